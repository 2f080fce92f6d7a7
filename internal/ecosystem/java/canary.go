package java

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// plantJUnit is a failing test beside the tests of a module.
const plantJUnit = "junit"

// Plants are the ways in which a failing test is put beside a change.
func (Ecosystem) Plants() []string { return []string{plantJUnit} }

const testRoot = "src/test/java"

// CanaryPlaces are the modules that the change touches, or else the first one with
// tests; and all of them where it touches what steers the gate.
func (Ecosystem) CanaryPlaces(c *ecosystem.Change, gate company.GateCommand) (out []ecosystem.CanaryPlace, reason string) {
	if len(c.TouchedFolders(gate, ".java")) == 0 && !c.TouchesGateFiles(gate) {
		return nil, ""
	}
	samples := map[string]string{} // the first test, by module
	var modules []string
	for p := range c.Files {
		if !ecosystem.IsUnder(p, gate.Dir) || !isTestFile(p) {
			continue
		}
		module := moduleOf(p)
		if samples[module] == "" || p < samples[module] {
			samples[module] = p
		}
		if !slices.Contains(modules, module) {
			modules = append(modules, module)
		}
	}
	slices.SortFunc(modules, ecosystem.CompareDepth)
	if !c.TouchesGateFiles(gate) {
		touched := slices.DeleteFunc(slices.Clone(modules), func(module string) bool {
			return !slices.ContainsFunc(c.Changed, func(p string) bool { return path.Ext(p) == ".java" && nearestOf(modules, p) == module })
		})
		if len(touched) == 0 {
			touched = modules[:min(len(modules), 1)]
		}
		modules = touched
	}
	for _, module := range modules {
		dir, name := ecosystem.SplitPath(samples[module])
		sample := c.ReadManifest(dir, name)
		out = append(out, ecosystem.CanaryPlace{
			Dir:  module,
			Path: func(word string) string { return path.Join(module, testRoot, word+"Test.java") },
			Text: func(word string) string { return testText(sample, word) },
		})
	}
	return out, ""
}

// nearestOf is the lowest of the modules that hold a file; they are in order of their
// depth.
func nearestOf(modules []string, file string) string {
	for _, module := range slices.Backward(modules) {
		if ecosystem.IsUnder(file, module) {
			return module
		}
	}
	return file
}

// moduleOf is the folder of the module that a test belongs to.
func moduleOf(file string) string {
	return strings.TrimSuffix(file[:strings.LastIndex("/"+file, "/"+testRoot+"/")], "/")
}

// testText is a failing test by the framework of another one.
func testText(sample, word string) string {
	const fails = "throw new AssertionError(\"this test of the company's must fail\");"
	mark, base := "@org.junit.Test ", ""
	switch {
	case strings.Contains(sample, "org.junit.jupiter"):
		mark = "@org.junit.jupiter.api.Test "
	case strings.Contains(sample, "org.testng"):
		mark = "@org.testng.annotations.Test "
	case strings.Contains(sample, "junit.framework"):
		mark, base = "", " extends junit.framework.TestCase"
	}
	return fmt.Sprintf("public class %[1]sTest%[2]s {\n    %[3]spublic void test_%[1]s() {\n        %[4]s\n    }\n}\n", word, base, mark, fails)
}
