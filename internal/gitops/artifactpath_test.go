package gitops

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"company/internal/company"
)

// Feature: lumberjack, Property 4: Artifact Path Relativity
//
// Whatever names a container's tree has, it is refused, or each path leads below any root (ART-3). A path and a hash
// name one artifact of the run (X43).
func TestAnyArtifactPathIsRelative(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n"})
	q := b.quarantine(t, run1)
	name := rapid.OneOf(
		rapid.SampledFrom([]string{".", "..", ".git", "a", "b", "f", "C:", "-", " ", "~", "a\\b", "new\nline"}),
		rapid.StringMatching(`[^/\x00]{1,8}`))
	taken, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		file := blob(t, q, rapid.SampledFrom([]string{"x\n", "y\n"}).Draw(rt, "content"))
		id, mode := file, "100644 blob "
		for range rapid.IntRange(1, 3).Draw(rt, "depth") {
			seen, entries := map[string]bool{}, []string{}
			for _, entry := range rapid.SliceOfN(name, 1, 2).Draw(rt, "names") {
				if !seen[entry] {
					seen[entry] = true
					entries = append(entries, mode+id+"\t"+entry)
				}
			}
			id, mode = mktree(t, q, entries...), "040000 tree "
		}
		head := plant(t, q, id, b.base.OID)
		got, err := b.mirror.Take(b.ctx, q, head, ResultRef(run1))
		if err != nil {
			if company.CodeOf(err) != company.EObjects {
				rt.Fatal(err)
			}
			refused++
			return
		}
		taken++
		artifacts := map[company.Change]bool{}
		for _, change := range got.Changes {
			key := company.Change{Path: change.Path, Hash: change.Hash}
			if artifacts[key] || !filepath.IsLocal(change.Path) ||
				!strings.HasPrefix(filepath.Join("/root", change.Path), "/root/") {
				rt.Errorf("%q is no relative path, or is there twice", change.Path)
			}
			artifacts[key] = true
			if deleted := change.Action == "deleted"; deleted && change.Hash != "" || !deleted &&
				string(change.Hash) != file {
				rt.Errorf("%+v, want the hash %s", change, file)
			}
		}
	})
	if taken == 0 || refused == 0 {
		t.Errorf("%d trees were taken and %d refused", taken, refused)
	}
}
