package secretscan

import (
	"bytes"
	"context"
	"slices"
	"sort"
	"strings"
)

// Limits of a search. A step costs about as much as matching one byte with a simple expression.
const (
	searchSteps = 512 << 20 // for all texts together
	textSteps   = 48 << 20  // for one text
	maxFindings = 100       // for one text
	matchSteps  = 8 << 10   // for a match, which is compared with allowlists
	// maxPart limits how many bytes an expression examines at a time.
	maxPart = 64 << 10
)

// Search scans many texts with a shared budget. It is not safe for concurrent use.
type Search struct {
	scanner *Scanner
	ctx     context.Context // nil if nothing ends the search early
	steps   int             // remaining
}

// Result holds the findings in a text. A text that was not scanned completely may contain more.
type Result struct {
	Findings []Finding // in line order
	// Unseen is how many bytes at the end were not scanned for secrets of known forms, because the text has too many
	// findings, costs too much, or the context ended.
	Unseen int
	Mark   string // identifies the text, like a finding's Mark; empty if Unseen is 0
}

// NewSearch starts a search. It stops early when ctx ends.
func (s *Scanner) NewSearch(ctx context.Context) *Search {
	return &Search{scanner: s, ctx: ctx, steps: searchSteps}
}

// isOver reports whether the search's context has ended.
func (x *Search) isOver() bool { return x.ctx != nil && x.ctx.Err() != nil }

// Scan scans the text of a file. An empty path means the text of a commit.
func (x *Search) Scan(path string, text []byte) Result {
	out := x.scanText(path, text, bytes.IndexByte(text[:min(len(text), sniffed)], 0) >= 0)
	narrow, ok := fromUTF16(text)
	if !ok {
		return out
	}
	wide := x.scanText(path, narrow, false)
	for _, finding := range wide.Findings {
		if !slices.ContainsFunc(out.Findings, func(o Finding) bool { return o.Mark == finding.Mark }) {
			out.Findings = append(out.Findings, finding)
		}
	}
	if 2*wide.Unseen > out.Unseen {
		out.Unseen, out.Mark = min(len(text), 2*wide.Unseen), wide.Mark
	}
	return out
}

// ScanProse scans text that is not a file. It leaves out rules that guess from the context of a value.
func (x *Search) ScanProse(text string) Result { return x.scanText("", []byte(text), true) }

// ScanProse scans one text that is not a file.
func (s *Scanner) ScanProse(ctx context.Context, text string) Result {
	return s.NewSearch(ctx).ScanProse(text)
}

// scanText scans a text. If sure is set, it only reports unambiguous secrets.
func (x *Search) scanText(path string, text []byte, sure bool) Result {
	type place struct {
		at int
		Finding
	}
	var found []place
	seen := map[string]bool{}
	add := func(index int, rule, what, secret string) {
		finding := Finding{Rule: rule, What: what, Mark: x.scanner.fingerprint(secret)}
		if !seen[finding.Mark] {
			seen[finding.Mark] = true
			found = append(found, place{index, finding})
		}
	}
	for _, spelling := range x.scanner.own {
		if index := bytes.Index(text, spelling.text); index >= 0 {
			add(index, OwnRule, "the value of "+spelling.name, spelling.name)
		}
	}
	marks := map[string]bool{}
	t := textSearch{search: x, set: shapes(), path: path, named: path, text: strings.ReplaceAll(string(text), "\x00", " "),
		sure: sure, steps: textSteps}
	t.keep = func(m match) bool {
		marks[m.secret] = true
		t.found = append(t.found, m)
		return len(marks) < maxFindings
	}
	end := t.run()
	// The general rule must not report a secret that a specific rule recognises.
	sort.SliceStable(t.found, func(i, j int) bool {
		return t.found[i].rule.ID != general && t.found[j].rule.ID == general
	})
	for _, m := range t.found {
		add(m.at, m.rule.ID, m.rule.describe(), m.secret)
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].at < found[j].at })
	out := Result{Unseen: len(text) - end}
	line, from := 1, 0
	for _, p := range found {
		line += bytes.Count(text[from:p.at], []byte("\n"))
		from, p.Line = p.at, line
		out.Findings = append(out.Findings, p.Finding)
	}
	if out.Unseen > 0 {
		out.Mark = x.scanner.fingerprint(string(text))
	}
	return out
}

// textSearch scans one text for secrets of known forms.
type textSearch struct {
	search *Search
	set    *ruleSet
	path   string
	named  string // the path for allowlists
	text   string
	sure   bool
	// unshown leaves out rules for text that people are shown.
	unshown bool
	steps   int // remaining for this text
	keep    func(match) bool
	found   []match

	state []ruleState // by rule number
	open  []*rule     // rules with a part that was not examined yet
	end   int         // where the search stopped
}

// ruleState is the progress of one rule.
type ruleState struct {
	known, applies bool
	whole          bool // it has examined the whole text
	part           part
}

// part is a piece of the text around keywords that a rule must examine.
type part struct {
	open     bool
	from, to int
	first    int // position of the first keyword
}

// run returns how many bytes were scanned. Each rule examines only the text around its keywords, because programs and
// pictures are large and rarely contain keywords.
//
// In files that gitleaks excludes by name, and in binary data, only secrets that contain the mark of their kind
// count, because the author of a file chooses its name.
func (t *textSearch) run() int {
	if t.path != "" && t.set.Allowlist.ofPath(t.path) {
		t.named, t.sure = "", true
	}
	t.end = len(t.text)
	state := int32(0)
	for i := range len(t.text) {
		if i%maxPart == 0 && t.search.isOver() {
			t.stopAt(i)
			return t.end
		}
		state = t.set.words.step(state, t.text[i])
		for _, word := range t.set.words.ends[state] {
			if !t.visit(word, i+1) {
				return t.end
			}
		}
	}
	slices.SortFunc(t.open, func(a, b *rule) int { return t.state[a.number].part.first - t.state[b.number].part.first })
	for _, r := range slices.Clone(t.open) {
		if !t.look(r) {
			return t.end
		}
	}
	return t.end
}

// visit handles a keyword that ends at position to. It returns false if the search stops.
func (t *textSearch) visit(word int32, to int) bool {
	if t.state == nil {
		t.state = make([]ruleState, len(t.set.Rules))
	}
	index := to - t.set.lengths[word]
	for _, mark := range t.set.marks[word] {
		ruleState := &t.state[mark.rule.number]
		if !ruleState.known {
			ruleState.known = true
			ruleState.applies = (!t.sure || mark.rule.ID != general) && !(t.unshown && mark.rule.Shown) &&
				mark.rule.appliesTo(t.path)
			mark.rule.compile()
		}
		switch {
		case !ruleState.applies, ruleState.whole, t.sure && (mark.whole || to-index < leastMark):
			continue
		case mark.whole:
			ruleState.whole = true
			ruleState.part = part{open: true, to: len(t.text)}
			if !t.look(mark.rule) {
				return false
			}
			continue
		case mark.mayMatch != nil && !mark.mayMatch(t.text, index, to):
			continue
		}
		from, behind := max(0, index-mark.rule.reach.before), min(len(t.text), index+mark.rule.reach.behind)
		if ruleState.part.open && from <= ruleState.part.to && behind-ruleState.part.from <= maxPart {
			ruleState.part.to = max(ruleState.part.to, behind)
			continue
		}
		if ruleState.part.open && !t.look(mark.rule) {
			t.end = min(t.end, index)
			return false
		}
		ruleState.part = part{open: true, from: from, to: behind, first: index}
		t.open = append(t.open, mark.rule)
	}
	return true
}

// look matches a rule against its part. It returns false if the search stops.
func (t *textSearch) look(r *rule) bool {
	p := t.state[r.number].part
	if !t.spend((p.to - p.from) * r.reach.weight) {
		return t.stopAt(p.first)
	}
	for _, at := range r.re.FindAllStringSubmatchIndex(t.text[p.from:p.to], -1) {
		shiftMatch(at, p.from)
		if at[1] == p.to && p.to < len(t.text) { // the match may continue after the part
			to := min(len(t.text), p.to+withMark)
			if !t.spend((to - at[0]) * r.reach.weight) {
				return t.stopAt(at[0])
			}
			from := at[0]
			if at = r.re.FindStringSubmatchIndex(t.text[from:to]); at == nil {
				break
			}
			shiftMatch(at, from)
		}
		if !t.spend(matchSteps + at[1] - at[0]) {
			return t.stopAt(at[0])
		}
		match, ok := r.extractSecret(t.text, at)
		if !ok || t.sure && !r.hasKeyword(match.secret) || t.set.Allowlist.matches(t.named, match, t.text, at) ||
			r.isAllowed(t.path, match, t.text, at) {
			continue
		}
		if !t.keep(match) {
			return t.stopAt(at[1])
		}
	}
	t.state[r.number].part.open = false
	t.open = slices.DeleteFunc(t.open, func(o *rule) bool { return o == r })
	return true
}

// shiftMatch converts a match's positions in a part to positions in the text.
func shiftMatch(at []int, by int) {
	for i := range at {
		if at[i] >= 0 {
			at[i] += by
		}
	}
}

// spend deducts steps from the budgets and reports whether there were enough.
func (t *textSearch) spend(steps int) bool {
	if t.search.isOver() || steps > t.steps || steps > t.search.steps {
		return false
	}
	t.steps -= steps
	t.search.steps -= steps
	return true
}

// stopAt ends the search. The text after index was not scanned, nor the text after the first keyword of any part that
// is still open. It returns false.
func (t *textSearch) stopAt(index int) bool {
	t.end = min(t.end, index)
	for _, r := range t.open {
		if p := t.state[r.number].part; p.open {
			t.end = min(t.end, p.first)
		}
	}
	return false
}
