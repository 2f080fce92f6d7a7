package gates

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// clientOf is a FileMaker whose client writes the names of both sides' packages.
type clientOf struct {
	fails     error
	shown     string // the lock file of the tree that it got
	called    int
	generated int
	inputs    []string // of the last generation
}

func (c *clientOf) RemakeLocks(
	ctx context.Context, _ *company.Task, m *gitops.Mirror, tree company.OID, locks []ecosystem.LockConflict,
) (out []ecosystem.MadeFile, err error) {
	c.called++
	for _, l := range locks {
		text, err := m.ReadFile(ctx, tree, l.Path)
		if err != nil {
			return nil, err
		}
		c.shown = string(text)
		out = append(
			out, ecosystem.MadeFile{Path: l.Path, Command: "npm install --package-lock-only",
				Text: []byte(string(l.Ours) + string(l.Theirs))})
	}
	return out, c.fails
}

func (c *clientOf) RemakeGenerated(
	_ context.Context, _ *company.Task, _ company.OID, inputs []string,
	_ func(context.Context) (ecosystem.Generated, error),
) (ecosystem.Generated, error) {
	c.generated++
	c.inputs = inputs
	return ecosystem.Generated{Why: "no generator is here"}, nil
}

// Two branches that add packages conflict in the manifest and its lock file: the manifest
// has both by a rule, and the client makes the lock file of one side's. Where it cannot,
// the conflict has the reason; a conflict of people's files stays one, and no client is
// run (SUB-19).
func TestLockFilesAreRegenerated(t *testing.T) {
	t.Parallel()
	manifest := func(packages ...string) string {
		return "{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"" + strings.Join(packages, "\": \"1\",\n    \"") +
			"\": \"1\"\n  },\n  \"private\": true\n}\n"
	}
	p := gitopstest.New(t, map[string]string{"w/package.json": manifest("b"), "w/package-lock.json": "b\n", "a.js": "1\n"})
	one := p.Commit(
		"one", map[string]string{"w/package.json": manifest("b", "c"), "w/package-lock.json": "b c\n", "one.js": "1\n"})
	two := p.Commit(
		"two", map[string]string{"w/package.json": manifest("b", "d"), "w/package-lock.json": "b d\n", "two.js": "1\n"})
	task := &company.Task{ID: "t1"}
	merge := func(c *clientOf, ours, theirs company.OID) Merged {
		t.Helper()
		r := &Runner{Logger: slog.New(slog.DiscardHandler)}
		if c != nil {
			r.Files = c
		}
		got, err := r.MergeHeads(t.Context(), nil, task, p.Mirror, ours, theirs)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	client := &clientOf{}
	got := merge(client, one, two)
	if !got.Clean || len(got.Remade) != 1 || got.Remade[0].Path != "w/package-lock.json" || got.Remade[0].Command == "" ||
		!got.Remade[0].Of.Valid() || client.shown != "b c\n" {
		t.Fatalf("%+v of %q", got, client.shown)
	}
	for name, want := range map[string]string{"w/package.json": manifest("b", "c", "d"),
		"w/package-lock.json": "b c\nb d\n", "one.js": "1\n", "two.js": "1\n"} {
		if text, err := p.Mirror.ReadFile(t.Context(), got.Tree, name); err != nil || string(text) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, text, want)
		}
	}
	if again := merge(&clientOf{}, one, two); again.Tree != got.Tree || again.Remade[0] != got.Remade[0] {
		t.Errorf("another tree: %+v", again)
	}
	if failed := merge(&clientOf{fails: errors.New("no registry\nanswers")}, one, two); failed.Clean ||
		len(failed.Files) != 2 || len(failed.Remade) != 0 || !strings.HasPrefix(failed.Why, "no registry") ||
		strings.Contains(failed.Why, "\n") {
		t.Errorf("a client that fails: %+v", failed)
	}
	if none := merge(nil, one, two); none.Clean || none.Why != "" {
		t.Errorf("without a client: %+v", none)
	}
	three := p.Commit("three", map[string]string{"w/package-lock.json": "b e\n", "one.js": "2\n"})
	client.called = 0
	if other := merge(client, one, three); other.Clean || client.called > 0 {
		t.Errorf("with people's files: %+v", other)
	}
}
