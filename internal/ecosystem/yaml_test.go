package ecosystem

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadYAML(t *testing.T) {
	v, err := ReadYAML([]byte(`# a definition
on: [push, pull_request]
x-common: &common
  image: go
  tags: [a]
jobs:
  test:
    <<: *common
    tags: [b]
    steps:
      - run: go test ./...
      - run: |
          go vet ./...
          go build ./...
      - run: >-
          make
          check
      - !!str run
  again: *common
  steps: {run: 1.20}
`))
	if err != nil {
		t.Fatal(err)
	}
	test := v.Field("jobs").Field("test")
	steps := test.Field("steps").List()
	for got, want := range map[string]string{
		fmt.Sprint(len(v.Field("on").List()), v.Field("on").Line):         "2 2",
		test.FieldText("image"):                                           "go",
		test.Field("tags").List()[0].Text:                                 "b",
		fmt.Sprint(steps[0].FieldText("run"), steps[0].Field("run").Line): "go test ./...11",
		fmt.Sprint(steps[1].FieldText("run"), steps[1].Field("run").Line): "go vet ./...\ngo build ./...\n13",
		fmt.Sprint(steps[2].FieldText("run"), steps[2].Field("run").Line): "make check16",
		steps[3].Text: "run",
		v.Field("jobs").Field("again").FieldText("image"):         "go",
		v.Field("jobs").Field("steps").FieldText("run"):           "1.20",
		v.Field("jobs").Field("none").Field("run").FieldText("x"): "",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// A hostile or broken file is an error, at a cost that its bounds hold.
func TestReadYAMLRefuses(t *testing.T) {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1,
			i-1, i-1, i-1, i-1)
	}
	for name, text := range map[string]string{
		"broken":     "jobs:\n  a: [1\n b: {",
		"tabs":       "jobs:\n\ttest: 1\n",
		"brackets":   strings.Repeat("[", 5000),
		"dashes":     strings.Repeat("- ", 5000),
		"nested":     nestedYAML(100),
		"aliases":    laughs,
		"NUL":        "a: \x00",
		"large":      strings.Repeat("a: b\n", 100_000),
		"many lines": strings.Repeat("\n", 10_000),
	} {
		if _, err := ReadYAML([]byte(text)); err == nil {
			t.Errorf("%s: it was read", name)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", name, err)
		}
	}
	for _, text := range []string{"", "# nothing\n", "~", "just a text", "- a\n- b", "a: *nobody\n"} {
		if v, err := ReadYAML([]byte(text)); err != nil || v == nil {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func nestedYAML(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func FuzzReadYAML(f *testing.F) {
	f.Add([]byte("a: &b {c: *b}\n"))
	f.Add([]byte("<<: [*a, {b: c}]\n- d"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := ReadYAML(text); err == nil && countYAML(v, 10*maxYAMLValues) > 2*maxYAMLValues {
			t.Error("more values than are allowed")
		}
	})
}

// TestTreeReadsYAMLWithinABudget reads a file a second time for nothing, and refuses those
// behind the budget of a tree.
func TestTreeReadsYAMLWithinABudget(t *testing.T) {
	var files []File
	for i := range 40 {
		files = append(files, File{Path: fmt.Sprintf("ci/%02d.yml", i)})
	}
	text := []byte("a: |\n" + strings.Repeat(" "+strings.Repeat("x", 1000)+"\n", 200))
	reads := 0
	tree := NewTree(files, func(wanted []File, each func(File, []byte) error) error {
		reads++
		return each(wanted[0], text)
	})
	read, refused := 0, 0
	for range 2 {
		for _, f := range files {
			dir, name := SplitPath(f.Path)
			if root, err := tree.ReadYAML(dir, name); err != nil {
				refused++
			} else if root.FieldText("a") != "" {
				read++
			}
		}
	}
	if read != 2*5 || refused != 2*35 || reads != 40 {
		t.Errorf("%d were read, %d refused, with %d reads", read, refused, reads)
	}
	if root, err := tree.ReadYAML("ci", "none.yml"); root != nil || err != nil {
		t.Error(root, err)
	}
}
