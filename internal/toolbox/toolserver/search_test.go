package toolserver

import (
	"slices"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

func TestSearchAndList(t *testing.T) {
	origin, base := newOrigin(t)
	for name, prepared := range map[string]bool{"git": true, "no git": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if prepared {
				b.prepare(t, origin, base)
				b.file(t, "ignored/hit.go", "needle\n")
			}
			b.file(t, "x/one.go", "a\nneedle 1\r\n")
			b.file(t, "x/y/two.go", "needle 2\n")
			b.file(t, "three.ts", "needle "+strings.Repeat("w", 1000)+"\n")
			b.file(t, "bin", "needle\x00")
			search := func(pattern, glob string) toolproto.SearchResult {
				t.Helper()
				return must[toolproto.SearchResult](t)(b.Search(t.Context(), toolproto.SearchRequest{Pattern: pattern, Glob: glob}))
			}
			r := search("needle", "")
			var got []string
			for _, m := range r.Matches {
				got = append(got, m.Path+":"+itoa(m.Line))
			}
			if want := []string{"three.ts:1", "x/one.go:2", "x/y/two.go:1"}; !slices.Equal(got, want) || r.Truncated {
				t.Fatalf("%v, want %v", got, want)
			}
			if len(r.Matches[0].Text) > 510 || r.Matches[1].Text != "needle 1" {
				t.Fatalf("%+v", r.Matches)
			}
			for glob, want := range map[string]int{"*.go": 2, "x/*.go": 1, "x/**/*.go": 2, "x": 2, "**/*.{go,ts}": 3, "./x/y": 1,
				"*.py": 0, b.dir: 3, b.dir + "/x": 2, b.dir + "/x/*.go": 1, b.dir + "2/x": 0} {
				if n := len(search("needle", glob).Matches); n != want {
					t.Errorf("glob %q: %d matches, want %d", glob, n, want)
				}
			}
			if r := search("absent", ""); !strings.Contains(r.Text(), "no match in") {
				t.Fatal(r.Text())
			}
			b.file(t, "many.txt", strings.Repeat("needle\n", 500))
			text := "503 hits in 4 files:\n- 500 in many.txt\n- 1 in three.ts\n- 1 in x/one.go\n- 1 in " +
				"x/y/two.go\n\nmany.txt:1: needle\n"
			if r := search("needle", ""); !r.Truncated || len(r.Matches) != toolproto.SearchHits ||
				!strings.HasPrefix(r.Text(), text) ||
				!strings.Contains(r.Text(), "\nx/y/two.go:1: needle 2\n(403 more hits are left out") {
				t.Fatalf("%d matches\n%s", len(r.Matches), r.Text())
			}
			l := must[toolproto.ListFilesResult](t)(b.ListFiles(t.Context(), toolproto.ListFilesRequest{Glob: "x/**"}))
			if !slices.Equal(l.Paths, []string{"x/one.go", "x/y/two.go"}) || l.Total != 2 {
				t.Fatalf("%+v", l)
			}
			_, err := b.Search(t.Context(), toolproto.SearchRequest{Pattern: "("})
			requireRefusal(t, err, toolproto.KindArgument, "not a regular expression")
			_, err = b.Search(t.Context(), toolproto.SearchRequest{})
			requireRefusal(t, err, toolproto.KindArgument, "empty")
			_, err = b.ListFiles(t.Context(), toolproto.ListFilesRequest{Glob: "[b-a]"})
			requireRefusal(t, err, toolproto.KindArgument, "bad glob")
		})
	}
}
