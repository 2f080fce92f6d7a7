package gitops

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
)

// git.paths: a run that is kept to folders changes nothing else, whatever it
// pushes, and its worker is told how to undo it.
func TestChangesAreKeptToFolders(t *testing.T) {
	t.Parallel()
	files := map[string]string{"README": "r\n"}
	for _, d := range []string{"svc/api", "svc/web", "lib", "apitoo"} {
		files[d+"/one.txt"], files[d+"/deep/two.txt"] = "1\n", "2\n"
	}
	b := setup(t, files)
	n := 0
	try := func(only []string, change ...string) error {
		t.Helper()
		n++
		run := company.RunID(fmt.Sprintf("t1-01.%d", n))
		q := b.quarantine(t, run)
		q.OnlyIn(only)
		index := "GIT_INDEX_FILE=" + t.TempDir() + "/index"
		git := func(stdin string, args ...string) string {
			t.Helper()
			out, err := gitWith(q.Dir(), stdin, index, append([]string{"--git-dir=."}, args...)...)
			if err != nil {
				t.Fatalf("%v: %v %s", args, err, out)
			}
			return out
		}
		git("", "read-tree", string(b.base.OID))
		for _, c := range change {
			if name, ok := strings.CutPrefix(c, "-"); ok {
				git("", "rm", "-r", "-q", "--cached", name)
			} else {
				git("", "update-index", "--add", "--cacheinfo", "100644,"+blob(t, q, "new\n")+","+c)
			}
		}
		head := plant(t, q, git("", "write-tree"), b.base.OID)
		_, err := b.mirror.Take(b.ctx, q, head, ResultRef(run))
		return err
	}
	api := []string{"svc/api"}
	for _, good := range [][]string{{"svc/api/one.txt"}, {"svc/api/new/a/b"}, {"-svc/api/deep"}, {"-svc/api"},
		{"svc/api/one.txt", "svc/api/deep/two.txt"}} {
		if err := try(api, good...); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range [][]string{
		{"README"}, {"svc/web/one.txt"}, {"svc/new"}, {"svc/apix/new"}, {"apitoo/one.txt"}, {"-lib"}, {"-svc/web"},
		{"-README"}, {"-svc/web/deep/two.txt"},
		{"svc/api/one.txt", "new"}, {"-svc/api", "svc/api"}, {"-svc"},
	} {
		err := try(api, bad...)
		requireCode(t, err, company.EObjects, "outside of the folders of this task", "svc/api")
		if !strings.Contains(at(err).Hint, "origin/base") {
			t.Errorf("%#v", at(err))
		}
	}
	// The same tree in two places, of which one may not have it so.
	if err := try([]string{"svc/api/deep", "svc/web/one.txt"}, "svc/api/deep/x", "svc/web/deep/x"); company.CodeOf(
		err) != company.EObjects {
		t.Error(err)
	}
	if err := try(nil, "README", "-lib"); err != nil {
		t.Error(err)
	}
	if err := b.mirror.HasFolders(b.ctx, b.base.OID, []string{"svc/api", "lib"}); err != nil {
		t.Error(err)
	}
	for _, p := range []string{"svc/nope", "README", "svc/api/one.txt", "SVC/api", "--help", ":/"} {
		requireCode(t, b.mirror.HasFolders(b.ctx, b.base.OID, []string{p}), company.ENotFound, "git.paths")
	}
}
