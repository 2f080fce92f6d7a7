package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The modules of the page import each other in one direction, types included.
func TestPageModulesHaveNoCircle(t *testing.T) {
	t.Parallel()
	relativeRE := regexp.MustCompile(`from "(\.[^"]+)"`)
	imports := map[string][]string{}
	for name, text := range trackedFiles(t, ".ts", ".tsx") {
		for _, match := range relativeRE.FindAllStringSubmatch(text, -1) {
			imports[name] = append(imports[name], path.Join(path.Dir(name), match[1]))
		}
	}
	if len(imports) < 20 {
		t.Fatalf("only %d modules were read", len(imports))
	}
	checked := map[string]bool{}
	var follow func(name string, above []string)
	follow = func(name string, above []string) {
		if i := slices.Index(above, name); i >= 0 {
			t.Errorf("a circle of imports: %s", strings.Join(append(above[i:], name), " -> "))
			return
		}
		if !checked[name] {
			checked[name] = true
			for _, imported := range imports[name] {
				follow(imported, append(slices.Clip(above), name))
			}
		}
	}
	for name := range imports {
		follow(name, nil)
	}
}
