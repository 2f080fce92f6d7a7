package toolserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// A path that is written wrongly is a mistake, and its refusal names the right one.
func TestWrongPathsAreMistakes(t *testing.T) {
	b := newBench(t)
	b.file(t, "src/x.go", "package x\n")
	b.file(t, "README.md", "read me\n")
	b.file(t, "docs/README.md", "read me\n")
	b.file(t, "lib/deep/only_here.go", "package deep\n")
	outside := filepath.Join(filepath.Dir(b.dir), "scratch.txt")
	if err := os.WriteFile(outside, []byte("s"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, right := range map[string]string{
		"/app/src/x.go": "src/x.go", "/home/user/project/src/x.go": "src/x.go", "/workspace/README.md": "README.md",
		"/src/x.go": "src/x.go", "/testbed/docs/README.md": "docs/README.md", "../other/src/x.go": "src/x.go",
		"../../src/x.go": "src/x.go", "~/src/x.go": "src/x.go", "file:///app/src/x.go": "src/x.go",
		`C:\Users\me\project\src\x.go`: "src/x.go", "/app/only_here.go": "lib/deep/only_here.go",
		"a/src/x.go": "src/x.go", "b/src/x.go": "src/x.go", "repo/src/x.go": "src/x.go", "src/X.go": "src/x.go",
		"Src/x.go": "src/x.go", "readme.MD": "README.md", "/app/src": "src", "`/app/src/x.go:12`": "",
		outside: "", "/app/nowhere.zig": "", "/tmp": "", "/usr/include/stdio.h": "", "/work/attached/spec.md": "",
	} {
		_, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: path})
		var refusal *toolproto.Refusal
		if !errors.As(err, &refusal) || refusal.Kind != toolproto.KindArgument && refusal.Kind != toolproto.KindNotFound {
			t.Errorf("%s: %+v", path, err)
			continue
		}
		if right != "" && !strings.Contains(refusal.Message, "did you mean "+right) {
			t.Errorf("%s: %s", path, refusal.Message)
		}
		if _, err := b.EditFile(t.Context(), toolproto.EditFileRequest{Path: path, Old: "x", New: "y"}); err == nil {
			t.Errorf("%s was edited", path)
		}
	}
	_, err := b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "/app/src/new.go", Content: []byte("package x\n")})
	requireRefusal(t, err, toolproto.KindArgument, "give the path from its root, "+b.dir+"; did you mean src/new.go?")
	_, err = b.Run(t.Context(), toolproto.RunRequest{Command: "pwd", Cwd: "/app/src"})
	requireRefusal(t, err, toolproto.KindArgument, "did you mean src?")
	if got := string(must[[]byte](t)(os.ReadFile(outside))); got != "s" {
		t.Errorf("outside there is %q", got)
	}
}

// A path is found as models copy it from messages, links and other systems.
func TestPathsAreTakenAsModelsCopyThem(t *testing.T) {
	b := newBench(t)
	b.file(t, "src/x y.go", "package x\n")
	b.file(t, "line.go:12", "the file with this name\n")
	b.file(t, "line.go", "package x\n")
	b.file(t, `odd\name`, "odd\n")
	for path, right := range map[string]string{
		"./src/x y.go": "src/x y.go", " src/x y.go\n": "src/x y.go", `"src/x y.go"`: "src/x y.go", "`src/x y.go`": "src/x y.go",
		"src/x y.go:3": "src/x y.go", "src/x y.go:3:7": "src/x y.go", "src/x y.go#L3-L9": "src/x y.go",
		`src\x y.go`: "src/x y.go", `.\src\x y.go`: "src/x y.go", `src/x\ y.go`: "src/x y.go", "src//x y.go": "src/x y.go",
		"../repo/src/x y.go": "src/x y.go", b.dir + "/src/x y.go": "src/x y.go", "file://" + b.dir + "/src/x%20y.go": "src/x y.go",
		"src/x\u00a0y.go": "src/x y.go", "line.go:12": "line.go:12", "line.go:13": "line.go", `odd\name`: `odd\name`,
	} {
		r, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: path})
		if err != nil || r.Path != right {
			t.Errorf("%q is %q (%v), want %q", path, r.Path, err, right)
		}
	}
	for path, right := range map[string]string{`src\new.go`: "src/new.go", " new.txt\n": "new.txt", "'q.txt'": "q.txt"} {
		w, err := b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: path, Content: []byte("x")})
		if err != nil || w.Path != right || b.content(t, right) != "x" {
			t.Errorf("%q is written as %q: %v", path, w.Path, err)
		}
	}
	_, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: " \n"})
	requireRefusal(t, err, toolproto.KindArgument, "must name a file")
}

// An accent that is a character of its own on the disk, or a blank of another width, is no other file.
func TestSpellingsOfANameAreOneFile(t *testing.T) {
	b := newBench(t)
	nfd, nfc := "cafe\u0301", "caf\u00e9"
	b.file(t, nfd+"/u\u0308ber.txt", "one\n")
	b.file(t, "at 8\u202fPM.txt", "two\n")
	b.file(t, "latin \xe9.txt", "three\n")
	b.file(t, "both/"+nfd, "nfd\n")
	b.file(t, "both/"+nfc, "nfc\n")
	for path, want := range map[string]string{nfc + "/\u00fcber.txt": "one\n", nfd + "/\u00fcber.txt": "one\n",
		"at 8 PM.txt": "two\n", "latin ⟨e9⟩.txt": "three\n", "both/" + nfd: "nfd\n", "both/" + nfc: "nfc\n"} {
		r, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: path})
		if err != nil || string(r.Content) != want {
			t.Errorf("%q: %q, %v", path, r.Content, err)
		}
	}
	must[toolproto.EditFileResult](t)(
		b.EditFile(t.Context(), toolproto.EditFileRequest{Path: nfc + "/\u00fcber.txt", Old: "one", New: "1"}))
	must[toolproto.WriteFileResult](t)(
		b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: nfc + "/\u00fcber.txt", Content: []byte("2\n")}))
	must[toolproto.WriteFileResult](t)(
		b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: nfc + "/new.txt", Content: []byte("new\n")}))
	if got := b.content(t, nfd+"/u\u0308ber.txt") + b.content(t, nfd+"/new.txt"); got != "2\nnew\n" {
		t.Errorf("stored %q", got)
	}
	if n := len(must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(b.dir, nfd)))); n != 2 {
		t.Errorf("%d files", n)
	}
	if _, err := os.Stat(filepath.Join(b.dir, nfc)); err == nil {
		t.Error("a second folder was made")
	}
	list := must[toolproto.ListFilesResult](t)(b.ListFiles(t.Context(), toolproto.ListFilesRequest{Glob: "latin*"}))
	if len(list.Paths) != 1 || list.Paths[0] != "latin ⟨e9⟩.txt" {
		t.Errorf("listed %q", list.Paths)
	}
}

// git_commit takes the paths that the other tools take.
func TestCommitTakesPathsAsTheyAreSpelled(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	b.file(t, "cafe\u0301.txt", "x")
	b.file(t, "other.txt", "x")
	r := must[toolproto.GitCommitResult](t)(b.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "m",
		Paths: []string{"caf\u00e9.txt", `.\other.txt`}}))
	if len(r.Files) != 2 || r.Files[0].Path != "cafe\u0301.txt" || r.Files[1].Path != "other.txt" {
		t.Errorf("committed %+v", r.Files)
	}
}
