package toolserver

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"company/internal/toolbox/toolproto"
)

// A file that a tool wrote and that an ignore rule hides is named with the rule, by a commit, by the status and by a
// refusal to commit. What commands wrote, and what is committed all the same, is not.
func TestIgnoredFilesAreNamed(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	write := func(path string) {
		t.Helper()
		must[toolproto.WriteFileResult](t)(
			b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: path, Content: []byte("x\n")}))
	}
	names := func(list []toolproto.IgnoredFile) []string {
		var out []string
		for _, file := range list {
			out = append(out, file.String())
		}
		return out
	}
	b.file(t, "built.log", "by a command\n")
	write("notes.log")
	_, err := b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "nothing else"})
	requireRefusal(t, err, toolproto.KindNothing, "notes.log (.gitignore:2: *.log)")
	_, err = b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "by name", Paths: []string{"notes.log"}})
	requireRefusal(t, err, toolproto.KindGit, "notes.log (.gitignore:2: *.log)")

	write("conf/.gitignore")
	b.file(t, "conf/.gitignore", "# here\n*.local\n!kept.local\n")
	write("conf/kept.local")
	write("conf/my.local")
	c := b.commit(t, "some")
	want := []string{"conf/my.local (conf/.gitignore:2: *.local)", "notes.log (.gitignore:2: *.log)"}
	if got := names(c.Ignored); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	s := must[toolproto.GitStatusResult](t)(b.GitStatus(t.Context()))
	if got := names(s.Ignored); !slices.Equal(got, want) || !s.Clean {
		t.Errorf("%q, not %q", got, want)
	}
	run := must[toolproto.RunResult](t)(b.Run(t.Context(), toolproto.RunRequest{Command: "git add -f notes.log"}))
	if run.ExitCode != 0 {
		t.Fatal(run.Text())
	}
	if err := os.Remove(filepath.Join(b.dir, "conf/my.local")); err != nil {
		t.Fatal(err)
	}
	if c = b.commit(t, "by force"); len(c.Ignored) != 0 || len(c.Files) != 1 {
		t.Errorf("%+v", c)
	}
}
