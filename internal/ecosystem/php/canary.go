package php

import (
	"fmt"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// plantPHPUnit is a failing test beside a test of PHPUnit.
const plantPHPUnit = "phpunit"

// Plants are the ways in which a failing test is put beside a change.
func (Ecosystem) Plants() []string { return []string{plantPHPUnit} }

// CanaryPlaces are the folders of tests that the change touches, or else the first
// one of all; and all of them where it touches what steers the gate.
func (Ecosystem) CanaryPlaces(c *ecosystem.Change, gate company.GateCommand) (out []ecosystem.CanaryPlace, reason string) {
	if len(c.TouchedFolders(gate, ".php")) == 0 && !c.TouchesGateFiles(gate) {
		return nil, ""
	}
	dirs := c.FoldersOf(gate, isTestFile)
	if !c.TouchesGateFiles(gate) {
		touched := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
			return !slices.ContainsFunc(c.Changed, func(p string) bool { d, name := ecosystem.SplitPath(p); return d == dir && isTestFile(name) })
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
				return fmt.Sprintf("<?php\n\nclass %[1]sTest extends \\PHPUnit\\Framework\\TestCase\n{\n    public function test_%[1]s(): void\n    {\n        $this->fail(\"this test of the company's must fail\");\n    }\n}\n", word)
			},
		})
	}
	return out, ""
}
