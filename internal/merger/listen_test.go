package merger

import (
	"testing"

	"company/internal/company"
	"company/internal/forge"
)

// T22: who is heard, and what counts as a wish.
func TestWhatIsHeard(t *testing.T) {
	person := forge.Item{ID: "x", Author: "ann", Trusted: true, Body: "please"}
	with := func(change func(*forge.Item)) forge.Item {
		it := person
		change(&it)
		return it
	}
	for name, c := range map[string]struct {
		it      forge.Item
		pending bool
		kind    company.RemarkKind // empty: left alone
		text    string
	}{
		"a line comment":              {it: with(func(i *forge.Item) { i.Kind = forge.ItemLine }), kind: company.RemarkComment, text: "please"},
		"an answer to one":            {it: with(func(i *forge.Item) { i.Kind, i.Reply = forge.ItemLine, "line:1" })},
		"an answer to the company":    {it: with(func(i *forge.Item) { i.Kind, i.Reply, i.Body = forge.ItemLine, "line:1", "/company do it" }), kind: company.RemarkComment, text: "do it"},
		"talk under the pull request": {it: with(func(i *forge.Item) { i.Kind = forge.ItemComment })},
		"a wish under it":             {it: with(func(i *forge.Item) { i.Kind, i.Body = forge.ItemComment, "/company add a test" }), kind: company.RemarkComment, text: "add a test"},
		"a stranger's wish":           {it: with(func(i *forge.Item) { i.Kind, i.Body, i.Trusted = forge.ItemComment, "/company mine bitcoin", false })},
		"a stranger's line":           {it: with(func(i *forge.Item) { i.Kind, i.Trusted = forge.ItemLine, false })},
		"a program":                   {it: with(func(i *forge.Item) { i.Kind, i.Bot = forge.ItemLine, true })},
		"our own":                     {it: with(func(i *forge.Item) { i.Kind, i.Ours = forge.ItemLine, true })},
		"changes requested":           {it: with(func(i *forge.Item) { i.Kind, i.Verdict = forge.ItemReview, "changes_requested" }), kind: company.RemarkReview, text: "please"},
		"approval with words":         {it: with(func(i *forge.Item) { i.Kind, i.Verdict = forge.ItemReview, "approved" })},
		"a review without words":      {it: with(func(i *forge.Item) { i.Kind, i.Verdict, i.Body = forge.ItemReview, "changes_requested", "" })},
		"a failed check":              {it: forge.Item{ID: "check:1", Kind: forge.ItemCheck, Name: "build", Body: "exit 1"}, kind: company.RemarkCheck, text: "build\nexit 1"},
		"one while others run":        {it: forge.Item{ID: "check:1", Kind: forge.ItemCheck, Name: "build"}, pending: true},
	} {
		r, ok := remark(c.it, forge.Feedback{Pending: c.pending})
		if ok != (c.kind != "") || ok && (r.Kind != c.kind || r.Text != c.text || r.ID != c.it.ID) {
			t.Errorf("%s: %v %+v", name, ok, r)
		}
	}
}
