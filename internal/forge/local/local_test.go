package local

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/forge/forgetest"
	"company/internal/lib/safedir/foldertest"
)

func newPR() forge.PR {
	return forge.PR{
		Office: "k3fq", Task: "t12", Number: 7, Title: "add rate limiting", Body: "# add rate limiting\n\ntext\n\n\n",
		Branch: "develop-t12-k3fq", Base: "main", Head: company.OID(strings.Repeat("a", 40)),
	}
}

func requireCode(t *testing.T, err error, want company.Code) {
	t.Helper()
	var e *company.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// newForgeIn is a forge that keeps its pages in a folder of an empty office.
func newForgeIn(t *testing.T, dir string) *Forge {
	return &Forge{Office: foldertest.Open(t, t.TempDir()), Dir: dir}
}

// Opening a pull request again finds the same one and brings it up to date:
// one record, one page, however often a delivery is repeated.
func TestOpenIsIdempotent(t *testing.T) {
	f := newForgeIn(t, "pulls")
	first := forgetest.MustOpen(t, f, newPR())
	if want := (forge.OpenedPR{Number: 7, URL: "file://" + f.Office.Join("pulls/7.md"), Base: "main",
		State: company.PROpen}); first != want {
		t.Errorf("%+v, want %+v", first, want)
	}
	if again := forgetest.MustOpen(t, f, newPR()); again != first {
		t.Errorf("another one: %+v", again)
	}
	moved := newPR()
	moved.Head, moved.Title, moved.Body = company.OID(strings.Repeat("b", 40)), "add rate limiting to the API", "new text"
	if again := forgetest.MustOpen(t, f, moved); again != first {
		t.Errorf("another one: %+v", again)
	}
	rec, err := f.ReadRecord(7)
	if err != nil || rec.Head != moved.Head || rec.Title != moved.Title || rec.Office != "k3fq" || rec.Task != "t12" ||
		rec.Base != "main" || rec.Branch != moved.Branch || rec.SchemaVersion != 1 {
		t.Errorf("%+v, %v", rec, err)
	}
	page, err := os.ReadFile(f.FullPagePath(7))
	if want := "<!-- company office=k3fq task=t12 title=07da8554 -->\nnew text\n<!-- /company -->\n"; err != nil ||
		string(page) != want {
		t.Errorf("%q, %v, want %q", page, err, want)
	}
	entries, err := os.ReadDir(f.Office.Join(f.Dir))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

// A page without its record is what a crash in between leaves.
func TestOpenAfterCrash(t *testing.T) {
	f := newForgeIn(t, "pulls")
	if err := f.Office.Mkdir(f.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.FullPagePath(7), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	forgetest.MustOpen(t, f, newPR())
	if page, err := os.ReadFile(f.FullPagePath(7)); err != nil || string(page) != newPR().MarkedBody() {
		t.Errorf("%q, %v", page, err)
	}
}

func TestOpenRefused(t *testing.T) {
	f := newForgeIn(t, "pulls")
	forgetest.MustOpen(t, f, newPR())
	for name, change := range map[string]func(*forge.PR){
		"another office": func(p *forge.PR) { p.Office = "zzzz" },
		"another task":   func(p *forge.PR) { p.Task = "t13" },
	} {
		pr := newPR()
		change(&pr)
		pr.Title, pr.Known = "taken over", 7
		if _, err := f.Open(t.Context(), pr); err == nil {
			t.Errorf("%s: taken", name)
		} else {
			requireCode(t, err, company.EConflict)
		}
	}
	if rec, err := f.ReadRecord(7); err != nil || rec.Title != newPR().Title {
		t.Errorf("%+v, %v: somebody else's pull request was changed", rec, err)
	}
	pr := newPR()
	pr.Number = 0
	_, err := f.Open(t.Context(), pr)
	requireCode(t, err, company.EInternal)

	if err := os.WriteFile(f.Office.Join(f.recordPath(7)), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = f.Open(t.Context(), newPR())
	requireCode(t, err, company.EForge)

	// The folder's place is taken by a file: what goes wrong is said with what
	// to do.
	blocked := &Forge{Office: f.Office, Dir: f.recordPath(7)}
	_, err = blocked.Open(t.Context(), newPR())
	requireCode(t, err, company.EForge)
	if e := (*company.Error)(nil); errors.As(err, &e) && e.Hint == "" {
		t.Errorf("no hint: %v", err)
	}
}

// TestLostNumbersAreSkipped: the ledger has lost the tasks to which numbers 7 and 8 were given, and
// gives 7 again. The new pull request is kept beside them, under the same number each time.
func TestLostNumbersAreSkipped(t *testing.T) {
	f := newForgeIn(t, "pulls")
	forgetest.MustOpen(t, f, newPR())
	other := newPR()
	other.Task, other.Number = "t13", 8
	forgetest.MustOpen(t, f, other)
	opened := newPR()
	opened.Task, opened.Title = "t20", "what came later"
	first := forgetest.MustOpen(t, f, opened)
	if first.Number != 9 || first.URL != "file://"+f.FullPagePath(9) {
		t.Errorf("%+v", first)
	}
	if again := forgetest.MustOpen(t, f, opened); again != first {
		t.Errorf("another one: %+v", again)
	}
	opened.Known, opened.Body = first.Number, "a follow-up, for which the ledger wants its first number"
	if again := forgetest.MustOpen(t, f, opened); again != first {
		t.Errorf("another one: %+v", again)
	}
	for number, want := range map[int]company.TaskID{7: "t12", 8: "t13", 9: "t20"} {
		if r, err := f.ReadRecord(number); err != nil || r.Task != want || r.Number != number {
			t.Errorf("%d: %+v, %v", number, r, err)
		}
	}
}

func TestReadMissingRecord(t *testing.T) {
	f := newForgeIn(t, "never made")
	if _, err := f.ReadRecord(1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(f.Office.Join(f.Dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("reading made the folder")
	}
	if f.Kind() != "local" {
		t.Error(f.Kind())
	}
}

// A comment is said once, and only under one's own pull request.
func TestComment(t *testing.T) {
	f := newForgeIn(t, "pulls")
	forgetest.MustOpen(t, f, newPR())
	ref := forge.Ref{Office: "k3fq", Task: "t12", Number: 7}
	for range 3 {
		if err := f.Comment(t.Context(), ref, "sync:1", "seen"); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Comment(t.Context(), ref, "sync:2", "more"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.FullCommentsPath(7))
	if err != nil || strings.Count(string(text), "seen") != 1 || strings.Count(string(text), "more") != 1 {
		t.Errorf("%q, %v", text, err)
	}
	requireCode(t, f.Comment(t.Context(), ref, "bad key", "x"), company.EInvalid)
	requireCode(t, f.Comment(t.Context(), ref, "k", " "), company.EInvalid)
	requireCode(t, f.Comment(t.Context(), forge.Ref{Office: "zzzz", Task: "t12", Number: 7}, "k", "x"), company.EConflict)
	requireCode(t, f.Comment(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 8}, "k", "x"), company.ENotFound)
	if _, err := f.Feedback(t.Context(), forge.Ref{Number: 8}); company.CodeOf(err) != company.ENotFound {
		t.Errorf("%v", err)
	}
	if fb, err := f.Feedback(t.Context(), ref); err != nil || fb.State != "" || fb.Head != newPR().Head {
		t.Errorf("%+v, %v", fb, err)
	}
}
