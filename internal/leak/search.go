package leak

import (
	"bytes"
	"context"
	"slices"
	"sort"
	"strings"
)

// Limits of a search. A step is about a byte that a simple expression looks at.
const (
	searchSteps = 512 << 20 // of all texts together
	textSteps   = 48 << 20  // of one text
	maxFindings = 100       // of one text
	matchSteps  = 8 << 10   // of a match, which is held against lists of allowed ones
	// maxPart is the most that an expression looks at in one piece.
	maxPart = 64 << 10
)

// Search looks through many texts and spends one budget on them. It is for one
// goroutine.
type Search struct {
	scanner *Scanner
	ctx     context.Context
	steps   int // left
}

// Result is what a text has. A text that was not looked through to its end may have
// more.
type Result struct {
	Findings []Finding // in the order of their lines
	// Unseen is how many bytes at the end were not looked through for secrets of
	// known shapes, since the text has too many findings, costs too much, or the
	// context ended.
	Unseen int
	Mark   string // of the text, as that of a finding; empty where nothing is unseen
}

// NewSearch begins a search, which ends early with its context.
func (s *Scanner) NewSearch(ctx context.Context) *Search {
	return &Search{scanner: s, ctx: ctx, steps: searchSteps}
}

// Scan looks through a text of a file. An empty path means that of a commit.
func (x *Search) Scan(path string, text []byte) Result {
	out := x.scanText(path, text, bytes.IndexByte(text[:min(len(text), sniffed)], 0) >= 0)
	narrow, ok := fromUTF16(text)
	if !ok {
		return out
	}
	wide := x.scanText(path, narrow, false)
	for _, f := range wide.Findings {
		if !slices.ContainsFunc(out.Findings, func(o Finding) bool { return o.Mark == f.Mark }) {
			out.Findings = append(out.Findings, f)
		}
	}
	if 2*wide.Unseen > out.Unseen {
		out.Unseen, out.Mark = min(len(text), 2*wide.Unseen), wide.Mark
	}
	return out
}

// ScanProse looks through text that is no file: rules that guess by what stands
// beside a value are left out.
func (x *Search) ScanProse(text string) Result { return x.scanText("", []byte(text), true) }

// ScanProse looks through one text that is no file.
func (s *Scanner) ScanProse(ctx context.Context, text string) Result {
	return s.NewSearch(ctx).ScanProse(text)
}

// scanText looks through a text. sure: only for what cannot be anything else.
func (x *Search) scanText(path string, text []byte, sure bool) Result {
	type place struct {
		at int
		Finding
	}
	var found []place
	seen := map[string]bool{}
	add := func(at int, rule, what, secret string) {
		f := Finding{Rule: rule, What: what, Mark: x.scanner.fingerprint(secret)}
		if !seen[f.Mark] {
			seen[f.Mark] = true
			found = append(found, place{at, f})
		}
	}
	for _, o := range x.scanner.own {
		if at := bytes.Index(text, o.text); at >= 0 {
			add(at, OwnRule, "the value of "+o.name, o.name)
		}
	}
	marks := map[string]bool{}
	t := textSearch{search: x, set: shapes(), path: path, named: path, text: strings.ReplaceAll(string(text), "\x00", " "), sure: sure, steps: textSteps}
	t.keep = func(m match) bool {
		marks[m.secret] = true
		t.found = append(t.found, m)
		return len(marks) < maxFindings
	}
	end := t.run()
	// What a rule of its own knows is not named by the general one too.
	sort.SliceStable(t.found, func(i, j int) bool { return t.found[i].rule.ID != general && t.found[j].rule.ID == general })
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

// textSearch looks through one text for secrets of known shapes.
type textSearch struct {
	search *Search
	set    *ruleSet
	path   string
	named  string // the path for lists of allowed ones
	text   string
	sure   bool
	steps  int // left for this text
	keep   func(match) bool
	found  []match

	state []ruleState // by the number of the rule
	open  []*rule     // rules with a part that is not looked at yet
	end   int         // where the search stopped
}

// ruleState is how far one rule is.
type ruleState struct {
	known, applies bool
	whole          bool // it has looked at the whole text
	part           part
}

// part is a piece of the text that a rule is to look at, around its keywords.
type part struct {
	open     bool
	from, to int
	first    int // where the first of the keywords stands
}

// run returns how many bytes were looked through. Each rule looks around its
// keywords only: programs and pictures are large, and keywords in them are rare.
//
// In files that gitleaks leaves out by their name, and in bytes that are no text,
// only secrets that carry the mark of their kind count: the author of a file
// chooses its name.
func (t *textSearch) run() int {
	if t.path != "" && t.set.Allowlist.ofPath(t.path) {
		t.named, t.sure = "", true
	}
	t.state = make([]ruleState, len(t.set.Rules))
	t.end = len(t.text)
	state := int32(0)
	for i := range len(t.text) {
		if i%maxPart == 0 && t.search.ctx.Err() != nil {
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

// visit takes note of a keyword that ends at a place. It returns false where the
// search stops.
func (t *textSearch) visit(word int32, to int) bool {
	at := to - t.set.lengths[word]
	for _, m := range t.set.marks[word] {
		s := &t.state[m.rule.number]
		if !s.known {
			s.known, s.applies = true, (!t.sure || m.rule.ID != general) && m.rule.appliesTo(t.path)
			m.rule.compile()
		}
		switch {
		case !s.applies, s.whole, t.sure && (m.whole || to-at < leastMark):
			continue
		case m.whole:
			s.whole = true
			s.part = part{open: true, to: len(t.text)}
			if !t.look(m.rule) {
				return false
			}
			continue
		case m.mayMatch != nil && !m.mayMatch(t.text, at, to):
			continue
		}
		from, behind := max(0, at-m.rule.reach.before), min(len(t.text), at+m.rule.reach.behind)
		if s.part.open && from <= s.part.to && behind-s.part.from <= maxPart {
			s.part.to = max(s.part.to, behind)
			continue
		}
		if s.part.open && !t.look(m.rule) {
			t.end = min(t.end, at)
			return false
		}
		s.part = part{open: true, from: from, to: behind, first: at}
		t.open = append(t.open, m.rule)
	}
	return true
}

// look has a rule look at its part. It returns false where the search stops.
func (t *textSearch) look(r *rule) bool {
	p := t.state[r.number].part
	if !t.spend((p.to - p.from) * r.reach.weight) {
		return t.stopAt(p.first)
	}
	for _, at := range r.re.FindAllStringSubmatchIndex(t.text[p.from:p.to], -1) {
		shiftMatch(at, p.from)
		if at[1] == p.to && p.to < len(t.text) { // it may go on behind the part
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
		m, ok := r.extractSecret(t.text, at)
		if !ok || t.sure && !r.hasKeyword(m.secret) || t.set.Allowlist.matches(t.named, m, t.text, at) || r.isAllowed(t.path, m, t.text, at) {
			continue
		}
		if !t.keep(m) {
			return t.stopAt(at[1])
		}
	}
	t.state[r.number].part.open = false
	t.open = slices.DeleteFunc(t.open, func(o *rule) bool { return o == r })
	return true
}

// shiftMatch moves the places of a match in a part to those in the text.
func shiftMatch(at []int, by int) {
	for i := range at {
		if at[i] >= 0 {
			at[i] += by
		}
	}
}

// spend takes steps from the budgets. It reports whether there were enough.
func (t *textSearch) spend(steps int) bool {
	if t.search.ctx.Err() != nil || steps > t.steps || steps > t.search.steps {
		return false
	}
	t.steps -= steps
	t.search.steps -= steps
	return true
}

// stopAt ends the search: the text behind a place was not looked through, nor the
// text behind the first keyword of a part that no rule has looked at.
func (t *textSearch) stopAt(at int) bool {
	t.end = min(t.end, at)
	for _, r := range t.open {
		if p := t.state[r.number].part; p.open {
			t.end = min(t.end, p.first)
		}
	}
	return false
}
