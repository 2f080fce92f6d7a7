package php

import (
	"fmt"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// plantPHPUnit adds a failing test next to a PHPUnit test.
const plantPHPUnit = "phpunit"

// Plants lists the ways to add a failing test for a change.
func (Ecosystem) Plants() []string { return []string{plantPHPUnit} }

// CanaryPlaces returns the folders of tests that the change touches. If it touches none, CanaryPlaces
// returns the first folder of tests. If it touches a file that configures the gate, CanaryPlaces returns
// all of them.
func (Ecosystem) CanaryPlaces(
	change *ecosystem.Change, gate company.GateCommand,
) (out []ecosystem.CanaryPlace, reason string) {
	if len(change.TouchedFolders(gate, ".php")) == 0 && !change.TouchesGateFiles(gate) {
		return nil, ""
	}
	dirs := change.FoldersOf(gate, isTestFile)
	if !change.TouchesGateFiles(gate) {
		touched := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
			return !slices.ContainsFunc(change.Changed,
				func(p string) bool { d, name := ecosystem.SplitPath(p); return d == dir && isTestFile(name) })
		})
		if len(touched) == 0 {
			touched = dirs[:min(len(dirs), 1)]
		}
		dirs = touched
	}
	for _, dir := range dirs {
		out = append(out, ecosystem.CanaryPlace{
			Dir:  dir,
			Path: func(word string) string { return path.Join(dir, word+"Test.php") },
			Text: func(word string) string {
				return fmt.Sprintf("<?php\n\nclass %[1]sTest extends \\PHPUnit\\Framework\\TestCase\n{\n    public function "+
					"test_%[1]s(): void\n    {\n        $this->fail(\"this test of the company's must fail\");\n    }\n}\n", word)
			},
		})
	}
	return out, ""
}
