package forge

import (
	"fmt"
	"strings"
	"testing"
)

func TestCodeOwnersOf(t *testing.T) {
	text := "# all\n* @all\n*.go @gopher ann@example.com\r\n/docs/ @writer # words @no\n/build/* @flat\napps/ " +
		"@acme/apps\n/secret\n\nlib/a.go @last\nwith\\ blank/ @blank\n/app/[id]/ @next\n/é/{x} @accent\n"
	for path, want := range map[string]string{
		"README": "[all] []", "x/y.go": "[gopher] []", "docs/a/b.md": "[writer] []", "x/docs/a.md": "[all] []",
		"build/a": "[flat] []", "build/a/b": "[all] []",
		"with blank/x": "[blank] []", "app/[id]/a": "[next] []", "app/i/a": "[all] []", "é/{x}": "[accent] []",
		"é/x":    "[all] []",
		"apps/x": "[] [acme/apps]", "x/apps/y": "[] [acme/apps]", "secret/x": "[] []", "lib/a.go": "[last] []",
	} {
		users, teams := CodeOwnersOf(text, []string{path})
		if got := fmt.Sprint(users, teams); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if users, _ := CodeOwnersOf(text, []string{"a.go", "b.go", "README"}); fmt.Sprint(users) != "[gopher all]" {
		t.Errorf("%v", users)
	}
	if u, g := CodeOwnersOf("* @x\n"+strings.Repeat("a @y\n", 10_000), []string{"b"}); len(u)+len(g) != 0 {
		t.Errorf("a list without an end: %v %v", u, g)
	}
	if u, g := CodeOwnersOf("[[[ @x\n", []string{"a"}); len(u)+len(g) != 0 {
		t.Errorf("%v %v", u, g)
	}
}
