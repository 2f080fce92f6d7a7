package java

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// plantJUnit plants a failing test beside the tests of a module.
const plantJUnit = "junit"

// Plants lists the ways to plant a failing test.
func (Ecosystem) Plants() []string { return []string{plantJUnit} }

const testRoot = "src/test/java"

// CanaryPlaces returns the modules that the change touches, or the first module with tests if there are none. If the
// change touches gate files, it returns all modules.
func (Ecosystem) CanaryPlaces(
	change *ecosystem.Change, gate company.GateCommand,
) (out []ecosystem.CanaryPlace, reason string) {
	if len(change.TouchedFolders(gate, ".java")) == 0 && !change.TouchesGateFiles(gate) {
		return nil, ""
	}
	samples := map[string]string{} // the first test, by module
	var modules []string
	for p := range change.Files {
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
	if !change.TouchesGateFiles(gate) {
		touched := slices.DeleteFunc(slices.Clone(modules), func(module string) bool {
			return !slices.ContainsFunc(change.Changed,
				func(p string) bool { return path.Ext(p) == ".java" && nearestOf(modules, p) == module })
		})
		if len(touched) == 0 {
			touched = modules[:min(len(modules), 1)]
		}
		modules = touched
	}
	for _, module := range modules {
		dir, name := ecosystem.SplitPath(samples[module])
		sample := change.ReadManifest(dir, name)
		out = append(out, ecosystem.CanaryPlace{
			Dir:  module,
			Path: func(word string) string { return path.Join(module, testRoot, word+"Test.java") },
			Text: func(word string) string { return testText(sample, word) },
		})
	}
	return out, ""
}

// nearestOf returns the deepest of the modules that contain a file. modules must be sorted by depth.
func nearestOf(modules []string, file string) string {
	for _, module := range slices.Backward(modules) {
		if ecosystem.IsUnder(file, module) {
			return module
		}
	}
	return file
}

// moduleOf returns the folder of the module to which a test belongs.
func moduleOf(file string) string {
	return strings.TrimSuffix(file[:strings.LastIndex("/"+file, "/"+testRoot+"/")], "/")
}

// testText returns a failing test in the test framework of the sample.
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
	return fmt.Sprintf("public class %[1]sTest%[2]s {\n    %[3]spublic void test_%[1]s() {\n        %[4]s\n    }\n}\n",
		word, base, mark, fails)
}
