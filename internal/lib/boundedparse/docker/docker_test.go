package docker

import (
	"strings"
	"testing"

	"company/internal/lib/boundedparse/parsetest"
	"company/internal/lib/hosttest"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

func TestParseBoundsMemory(t *testing.T) {
	for _, line := range []string{
		"FROM a\n", "FROM a AS b\n", "ONBUILD ", "LABEL a=b ", "RUN a\\\n", "RUN [[[[", "RUN <<A\n", "RUN a\n", "ARG a\n",
		"# a\n", "ENV a='", "RUN --mount=a,", "HEALTHCHECK --a ", "RUN <<A <<B\n",
	} {
		text := "FROM a\n" + strings.Repeat(line, (maxText-10)/len(line))
		stack, allocated := parsetest.Measure(func() {
			if tree, err := Parse([]byte(text)); err == nil {
				_, _, _ = instructions.Parse(tree.AST, nil)
			}
		})
		if stack > 8*parsetest.MiB || allocated > 256*parsetest.MiB {
			t.Errorf("%q, again and again: %d MiB of stack, %d MiB allocated", line, stack>>20, allocated>>20)
		}
	}
	if _, err := Parse(make([]byte, maxText+1)); err == nil {
		t.Error("a large text was parsed")
	}
}

func TestExpandWordBoundsMemory(t *testing.T) {
	hosttest.Long(t, "it measures the largest texts")
	env := map[string]string{"x": strings.Repeat("a", 2000)}
	for _, c := range [][2]string{
		{"${a:-", "}"}, {"${x//a/", "}"}, {"${x/a/$x", "}"}, {"$x", ""}, {"\"$x", ""}, {"${x//", "/b}"}, {"*a", ""},
		{"${x#*", "}"}, {"'", ""}, {"\\", ""}, {"${", ""},
	} {
		for _, n := range []int{1, 2, 3, 10, 400, 1000, 50_000} {
			word := strings.Repeat(c[0], n) + strings.Repeat(c[1], n)
			stack, allocated := parsetest.Measure(func() { _, _ = ExpandWord(word, '\\', false, env) })
			if stack > 8*parsetest.MiB || allocated > 128*parsetest.MiB {
				t.Errorf("%d times %q: %d MiB of stack, %d MiB allocated", n, c[0], stack>>20, allocated>>20)
			}
		}
	}
	for word, want := range map[string]string{"${a:-$x}'b'": "yb", "${PATH//:/ }/${x%y}": "/usr/bin /bin/"} {
		if out, err := ExpandWord(word, '\\', false, map[string]string{"x": "y", "PATH": "/usr/bin:/bin"}); out != want ||
			err != nil {
			t.Error(out, err)
		}
	}
}
