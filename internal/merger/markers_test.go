package merger

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitopstest"
)

const example = "# Merging\n\n```\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n```\n"

// Documents and fixtures show markers on purpose: those that a side of the merge has stay, and a new one is refused
// wherever it is.
func TestOnlyNewMarkersRefuseAResolution(t *testing.T) {
	p := gitopstest.New(t, map[string]string{
		"doc.md": example + "owner: a\n", "other.md": "o\n", ".gitattributes": "wide.txt conflict-marker-size=9\n",
		"wide.txt": "<<<<<<< seven\nx\n",
	})
	ours := p.Commit("ours", map[string]string{"doc.md": example + "owner: b\n", "wide.txt": "<<<<<<< seven\ny\n"})
	theirs := p.Commit("theirs", map[string]string{"doc.md": example + "owner: c\n", "wide.txt": "<<<<<<< seven\nz\n"})
	sub := &company.Subtask{Head: ours,
		Conflict: &company.ConflictReported{Head: ours, Onto: theirs, Paths: []string{"doc.md", "wide.txt"}}}
	for name, c := range map[string]struct {
		files   map[string]string
		refused string
	}{
		"the example stays":     {files: map[string]string{"doc.md": example + "owner: d\n"}},
		"it changes place":      {files: map[string]string{"doc.md": "owner: d\n" + example}},
		"it is taken out":       {files: map[string]string{"doc.md": "owner: d\n"}},
		"a new one is indented": {files: map[string]string{"doc.md": example + "owner: d\n\n    <<<<<<< mine\n"}},
		"it gets other line ends": {
			files: map[string]string{"doc.md": strings.ReplaceAll(example, "\n", "\r\n") + "owner: d\r\n"}},
		"a conflict is left beside it": {
			files: map[string]string{
				"doc.md": example + "<<<<<<< HEAD\nowner: b\n=======\nowner: c\n>>>>>>> " + string(theirs) + "\n"},
			refused: "doc.md, line "},
		"an end is left beside it": {
			files: map[string]string{"doc.md": example + "owner: d\n>>>>>>> topic\n"}, refused: "doc.md, line 8 or 11"},
		"the base's side is left": {
			files: map[string]string{"doc.md": example + "||||||| 1234567\nowner: d\n"}, refused: "doc.md, line 10"},
		"no label": {files: map[string]string{"doc.md": example + "owner: d\n>>>>>>>\n"}, refused: "doc.md, line 11"},
		"a file without a conflict": {
			files:   map[string]string{"doc.md": example + "owner: d\n", "other.md": "o\n<<<<<<< HEAD\n"},
			refused: `other.md, line 2 ("<<<<<<< HEAD")`},
		"a new file": {
			files:   map[string]string{"doc.md": example + "owner: d\n", "more.md": "<<<<<<< HEAD\n"},
			refused: "more.md, line 1"},
		"text where markers are longer": {
			files: map[string]string{"doc.md": example, "wide.txt": "<<<<<<< seven\n<<<<<<< new\n"}},
		"a longer marker": {
			files:   map[string]string{"doc.md": example, "wide.txt": "<<<<<<< seven\n<<<<<<<<< HEAD\n"},
			refused: "wide.txt, line 2"},
		"a heading": {files: map[string]string{"doc.md": example + "owner d\n=======\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			branch := strings.ReplaceAll(name, " ", "-")
			p.Git("switch", "-q", "-c", branch, string(ours))
			p.Write(c.files)
			p.Git("add", "-A")
			p.Git("reset", "-q", "--hard", p.Git("commit-tree", "-m", name, "-p", string(ours), "-p", string(theirs),
				p.Git("write-tree")))
			p.Git("switch", "-q", "main")
			out := company.RunEnded{Status: company.RunSuccess, Head: p.Fetch(branch)}
			if err := checkResolution(t.Context(), p.Mirror, sub, &out); err != nil {
				t.Fatal(err)
			}
			if c.refused == "" && (out.Status != company.RunSuccess || out.Head == "") ||
				c.refused != "" && (out.Status != company.RunError || !strings.Contains(out.Error, c.refused)) {
				t.Errorf("%s %q, want a refusal that says %q", out.Status, out.Error, c.refused)
			}
		})
	}
}
