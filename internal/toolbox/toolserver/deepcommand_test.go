package toolserver

import (
	"reflect"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// TestDeepCommandGoesToBash shows that the toolbox hands a command of brackets to bash and
// stays alive. The toolbox is the first process of its container.
func TestDeepCommandGoesToBash(t *testing.T) {
	b := newBench(t)
	for _, sign := range []string{"(", "$(", "{ "} {
		if r := b.run(
			t, toolproto.RunRequest{Command: strings.Repeat(sign, 100<<10/len(sign)), TimeoutS: 60}); r.ExitCode == 0 {
			t.Errorf("%q, again and again: %+v", sign, r)
		}
	}
	if v := classifyCommand(strings.Repeat("(", 1<<20)); !reflect.DeepEqual(v, verdict{programs: []string{unknown}}) {
		t.Errorf("%+v", v)
	}
	if callsSleep(strings.Repeat("$(", 1<<19)) || callsSleep(strings.Repeat("{ ", 1<<19)) {
		t.Error("a deep script was looked into")
	}
	if r := b.run(t, toolproto.RunRequest{Command: "echo alive"}); r.Stdout.String() != "alive\n" {
		t.Errorf("%+v", r)
	}
}

// TestFindThatRunsFinds shows that a look at a command ends.
func TestFindThatRunsFinds(t *testing.T) {
	if v := classifyCommand(strings.Repeat("find -exec ", 200) + "vim"); v.interactive == "" {
		t.Error("the editor behind all of them was not seen")
	}
	classifyCommand(strings.Repeat("timeout ", 10_000) + "; " + strings.Repeat("find -exec timeout 1 ", 5000))
}

// TestGlobOfBraces shows that a glob of nothing but braces is refused.
func TestGlobOfBraces(t *testing.T) {
	if _, err := globMatcher(strings.Repeat("{}", 1<<19)); err == nil {
		t.Error("it was taken")
	}
	if _, err := globMatcher(strings.Repeat("{a,b}", 6)); err != nil {
		t.Error(err)
	}
}
