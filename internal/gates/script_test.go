package gates

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gitops/gitopstest"
	"company/internal/toolbox/toolproto"
)

// A tree that did not arrive is not a verdict, on a ticket's gate and on the base: the toolbox
// ends with an exit code of its own, and nothing of it counts before the command began.
func TestATreeThatDidNotArriveIsNoVerdict(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, nil)
	tree := p.Commit("one", map[string]string{"a": "1\n"})
	const cut = "level=ERROR msg=\"lay out the tree\" err=\"the archive is truncated\"\n"
	for name, c := range map[string]struct {
		end   scriptedEnd
		code  int    // of the verdict
		fails string // instead of a verdict
	}{
		"cut short": {end: scriptedEnd{exit: container.Exit{Code: 125}, prints: cut, unbegun: true,
			refuses: syscall.ENOSPC}, fails: "no space left on device"},
		"killed before": {end: scriptedEnd{exit: container.Exit{Code: 137}, unbegun: true},
			fails: "exit code 137 before the check began"},
		"the command's own": {end: scriptedEnd{exit: container.Exit{Code: 125}, prints: cut}, code: 125},
	} {
		for _, base := range []bool{false, true} {
			rt := &scripted{ends: []scriptedEnd{c.end}}
			r := &Runner{Runtime: rt, Office: "o", Logger: slog.New(slog.DiscardHandler)}
			cmds := []company.GateCommand{{Name: Lint, Command: "make lint"}}
			res, err := r.Run(t.Context(),
				Job{Mirror: p.Mirror, Tree: tree, Gates: cmds, Hash: HashGates(cmds), Image: ImageByID("i"), Label: "t1",
					Baseline: base})
			if c.fails != "" {
				if err == nil || !errors.Is(err, errNotBegun) || !strings.Contains(err.Error(), c.fails) ||
					company.NeedsPerson(err) {
					t.Errorf("%s, base %v: %+v, %v", name, base, res, err)
				}
				continue
			}
			if err != nil || res.Passed || res.Checks[0].ExitCode != c.code || strings.ContainsRune(res.Checks[0].Output, 0) {
				t.Errorf("%s, base %v: %+v, %v", name, base, res, err)
			}
		}
	}
}

// The line by which the toolbox says that the command begins may come in any pieces, and
// only the first one is the toolbox's.
func TestBeginIsFoundInPieces(t *testing.T) {
	t.Parallel()
	text := "a warning\n" + toolproto.CommandBegins + "out" + toolproto.CommandBegins
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		b := &beginReader{out: &out}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if k, err := b.Write([]byte(rest[:n])); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if err := b.flush(); err != nil || !b.begun || out.String() != "a warning\nout"+toolproto.CommandBegins ||
			string(b.said) != "a warning\n" {
			t.Fatalf("in pieces of %d: %v, %q, %q", size, b.begun, out.String(), b.said)
		}
	}
	var out bytes.Buffer
	b := &beginReader{out: &out}
	_, _ = b.Write([]byte("half\n" + toolproto.CommandBegins[:9]))
	if err := b.flush(); err != nil || b.begun || out.String() != "half\n"+toolproto.CommandBegins[:9] {
		t.Fatalf("%v, %q", b.begun, out.String())
	}
}
