package toolserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"company/internal/toolbox/toolproto"
)

// Feature: agent-execution-engine, Property 16: Tool Call Round-Trip
//
// WRK-2. What write_file wrote is in the file, byte for byte, and writing back what
// read_file shows of any file changes none of its bytes.
func TestWriteThenReadIsIdentity(t *testing.T) {
	b := newBench(t)
	n := 0
	text := rapid.StringMatching(`([a-zé日 ]{0,8}(\r?\n|\r))*[xé]?`)
	rapid.Check(t, func(rt *rapid.T) {
		content := rapid.OneOf(
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4000), func(b []byte) string { return string(b) }), text,
			rapid.Map(text, func(s string) string { return strings.ReplaceAll(s, "é", "\xe9") }),
			rapid.Map(text, func(s string) string { return "\xff\xfe" + utf16Text(s, false) }),
			rapid.Map(text, func(s string) string { return "\xfe\xff" + utf16Text(s, true) }),
			rapid.Map(text, func(s string) string { return bom + s }),
			rapid.SampledFrom([]string{"", latin, shiftJIS, mixed, "\xff\xfe", "\xff\xfea", "\xff\xfe\x00\xd8", "\xed\xa0\x80"}),
		).Draw(rt, "content")
		n++
		path := filepath.Join("d", "f"+itoa(n))
		w, err := b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: path, Content: []byte(content)})
		if err != nil || !w.Created || w.Bytes != len(content) || b.content(t, path) != content {
			rt.Fatal(w, err)
		}
		r, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: path})
		if err != nil || r.Truncated || r.Size != int64(len(content)) {
			rt.Fatalf("read %+v (%v), want %q", r, err, content)
		}
		if r.Binary {
			return
		}
		if _, err := b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: path, Content: r.Content}); err != nil {
			rt.Fatal(err)
		}
		if got := b.content(t, path); got != content {
			rt.Fatalf("shown as %q: on disk %q, want %q", r.Content, got, content)
		}
	})
}

func TestReadLimits(t *testing.T) {
	b := newBench(t)
	b.file(t, "long.txt", strings.Repeat("line\n", 5000))
	b.file(t, "wide.txt", strings.Repeat("x", 200_000)+"\nend\n")
	b.file(t, "bin", "a\x00b")
	b.file(t, "empty", "")
	read := func(r toolproto.ReadFileRequest) toolproto.ReadFileResult {
		t.Helper()
		return must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), r))
	}
	r := read(toolproto.ReadFileRequest{Path: "long.txt"})
	if r.Lines != 2000 || !r.Truncated || r.TotalLines != 5000 || !strings.Contains(r.Text(), "offset=2001 to continue") {
		t.Fatalf("%d of %d lines, truncated %v", r.Lines, r.TotalLines, r.Truncated)
	}
	r = read(toolproto.ReadFileRequest{Path: "long.txt", Offset: 4999, Limit: 10})
	if string(r.Content) != "line\nline\n" || r.Truncated || !strings.Contains(r.Text(), "5000: line") {
		t.Fatalf("%+v", r)
	}
	r = read(toolproto.ReadFileRequest{Path: "wide.txt"})
	if len(r.Content) != toolproto.ReadBytes || !r.Truncated || len(r.Text()) > 3000 {
		t.Fatalf("%d bytes, text %d", len(r.Content), len(r.Text()))
	}
	if r = read(toolproto.ReadFileRequest{Path: "bin"}); !r.Binary || !strings.Contains(r.Text(), "binary file") {
		t.Fatal(r.Text())
	}
	if r = read(toolproto.ReadFileRequest{Path: filepath.Join(b.dir, "empty")}); r.Path != "empty" ||
		!strings.Contains(r.Text(), "is empty") {
		t.Fatalf("%+v", r)
	}
	_, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "long.txt", Offset: 6000})
	requireRefusal(t, err, toolproto.KindArgument, "5000 lines")
	_, err = b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "lnog.txt"})
	requireRefusal(t, err, toolproto.KindNotFound, "did you mean long.txt")
	_, err = b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "."})
	requireRefusal(t, err, toolproto.KindArgument, "is a folder")
	f := must[*os.File](t)(os.Create(filepath.Join(b.dir, "huge")))
	if err := f.Truncate(toolproto.MaxFile + 1); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	_, err = b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "huge"})
	requireRefusal(t, err, toolproto.KindTooLarge, "limit")
}

// WRK-4: no path leads out, by dots, by symlinks, or into .git.
func TestPathsOutsideAreRefused(t *testing.T) {
	b := newBench(t)
	secret := filepath.Join(filepath.Dir(b.dir), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.file(t, ".git/config", "x")
	b.file(t, "in/real.txt", "real")
	for link, target := range map[string]string{
		"abs": secret, "rel": "../secret", "dir": "..", "in/up": "../../secret", "ok": "in/real.txt", "loop": "loop",
		"dangling": "../nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"../secret", "in/../../secret", secret, "/etc/passwd", "abs", "rel", "dir/secret",
		"in/up", ".git/config", "in/../.git/config", "dangling"} {
		kind := toolproto.KindOutside
		if slices.Contains([]string{"../secret", "in/../../secret", secret, "/etc/passwd"}, path) {
			kind = toolproto.KindArgument // a wrong path; the others are in the workspace and lead out
		}
		_, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: path})
		requireRefusal(t, err, kind, "")
		_, err = b.EditFile(t.Context(), toolproto.EditFileRequest{Path: path, Old: "s", New: "t"})
		requireRefusal(t, err, kind, "")
		if _, err = b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: path, Content: []byte("t")}); err == nil {
			t.Fatalf("%s was written", path)
		}
		_, err = b.Run(t.Context(), toolproto.RunRequest{Command: "pwd", Cwd: path})
		requireRefusal(t, err, kind, "")
	}
	if got := must[[]byte](t)(os.ReadFile(secret)); string(got) != "s" {
		t.Fatal("the file outside was changed")
	}
	_, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "loop"})
	requireRefusal(t, err, toolproto.KindArgument, "loop")
	_, err = b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "a\x00b"})
	requireRefusal(t, err, toolproto.KindArgument, "")
	// A symlink that stays inside is written through, and stays a symlink.
	must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "ok"}))
	must[toolproto.EditFileResult](t)(
		b.EditFile(t.Context(), toolproto.EditFileRequest{Path: "ok", Old: "real", New: "new"}))
	if b.content(t, "in/real.txt") != "new" {
		t.Fatal("not written through the symlink")
	}
	if info := must[os.FileInfo](t)(os.Lstat(filepath.Join(b.dir, "ok"))); info.Mode()&os.ModeSymlink == 0 {
		t.Fatal("the symlink was replaced")
	}
}

// To replace a file its current content has to be known, by hash; an edit shows that it knows its
// place by the text that it replaces.
func TestStaleFilesAreRefused(t *testing.T) {
	b := newBench(t)
	b.file(t, "f", "one\n")
	write := func(s string) error {
		_, err := b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "f", Content: []byte(s)})
		return err
	}
	edit := func(old, repl string) error {
		_, err := b.EditFile(t.Context(), toolproto.EditFileRequest{Path: "f", Old: old, New: repl})
		return err
	}
	requireRefusal(t, write("x"), toolproto.KindStale, "not read yet")
	if err := edit("one", "1\n2"); err != nil {
		t.Fatal("an edit needs no read before it:", err)
	}
	requireRefusal(t, write("x"), toolproto.KindStale, "not read yet")
	must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "f"}))
	b.file(t, "f", "changed\n")
	requireRefusal(t, write("x"), toolproto.KindStale, "has changed")
	if err := edit("changed", "x"); err != nil {
		t.Fatal("an edit of the file as it is:", err)
	}
	requireRefusal(t, write("x"), toolproto.KindStale, "not read yet")
	must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "f"}))
	b.file(t, "f", "one\n") // touched, same content: fine
	if err := edit("one", "two"); err != nil {
		t.Fatal(err)
	}
	if err := edit("two", "three"); err != nil {
		t.Fatal("own writes count as read:", err)
	}
	if got := b.content(t, "f"); got != "three\n" {
		t.Fatalf("%q", got)
	}
}

func TestWriteKeepsModeAndLeavesNothing(t *testing.T) {
	b := newBench(t)
	b.file(t, "run.sh", "echo\n")
	if err := os.Chmod(filepath.Join(b.dir, "run.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	must[toolproto.ReadFileResult](t)(b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "run.sh"}))
	must[toolproto.WriteFileResult](t)(
		b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "run.sh", Content: []byte("exit\n")}))
	info := must[os.FileInfo](t)(os.Stat(filepath.Join(b.dir, "run.sh")))
	if info.Mode().Perm() != 0o751 {
		t.Fatalf("mode %o", info.Mode().Perm())
	}
	entries := must[[]os.DirEntry](t)(os.ReadDir(b.dir))
	if len(entries) != 1 {
		t.Fatalf("left behind: %v", entries)
	}
	w := must[toolproto.WriteFileResult](t)(
		b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "bad.go", Content: []byte("package x\nfunc {\n")}))
	if len(w.Syntax) == 0 || !strings.Contains(w.Syntax[0], "bad.go:2") {
		t.Fatalf("syntax errors: %q", w.Syntax)
	}
	_, err := b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "run.sh/x", Content: nil})
	requireRefusal(t, err, toolproto.KindArgument, "not a directory")
}
