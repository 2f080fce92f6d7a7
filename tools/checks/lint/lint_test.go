package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestFaultsAreFound(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "lint")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	vet := exec.Command("go", "vet", "-vettool="+tool, "./...")
	vet.Dir = "testdata/faults"
	out, err := vet.CombinedOutput()
	if err == nil {
		t.Fatal("there are faults, and go vet ended with 0")
	}
	var got, want []string
	fault := regexp.MustCompile(`(?m)^(?:\./)?(\w+\.go:\d+):\d+: .* \((\w+)\)$`)
	for _, found := range fault.FindAllStringSubmatch(string(out), -1) {
		got = append(got, found[1]+" "+found[2])
	}
	for _, name := range []string{"faults.go", "faults_test.go"} {
		text, err := os.ReadFile(filepath.Join(vet.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			_, names, _ := strings.Cut(line, "// want ")
			for _, analyzer := range strings.Fields(names) {
				want = append(want, fmt.Sprintf("%s:%d %s", name, i+1, analyzer))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("found:\n%s\nwant:\n%s\n\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
	}
}
