package cli

import (
	"strings"
	"testing"

	"example.com/hours/internal/journal"
)

func init() {
	Register(Command{Name: "echo", Args: "WORD [MORE]", Help: "prints words", Run: func(env *Env, args []string) error {
		_, err := env.Out.Write([]byte(strings.Join(args, " ")))
		return err
	}})
}

func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var b strings.Builder
	err := Run(&Env{Dir: t.TempDir(), Out: &b}, args)
	return b.String(), err
}

func TestRun(t *testing.T) {
	if got, err := run(t, "echo", "a", "b"); err != nil || got != "a b" {
		t.Errorf("%q, %v", got, err)
	}
	for _, args := range [][]string{{"echo"}, {"echo", "a", "b", "c"}, {"nothing"}} {
		if _, err := run(t, args...); err == nil {
			t.Errorf("%v runs", args)
		}
	}
}

func TestCommandsAreListed(t *testing.T) {
	got, err := run(t)
	if err != nil || !strings.Contains(got, "echo") || !strings.Contains(got, "prints words") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSaveKeepsOrder(t *testing.T) {
	env := &Env{Dir: t.TempDir()}
	if list, err := env.Entries(); err != nil || list != nil {
		t.Fatalf("a new folder has %v, %v", list, err)
	}
	late, _ := journal.Parse("2026-03-03 08:00-09:00 acme")
	early, _ := journal.Parse("2026-03-02 08:00-09:00 acme")
	if err := env.Save([]journal.Entry{late, early}); err != nil {
		t.Fatal(err)
	}
	if list, err := env.Entries(); err != nil || len(list) != 2 || list[0] != early {
		t.Errorf("%v, %v", list, err)
	}
}
