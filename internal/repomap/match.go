package repomap

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/safetext"
)

// place is where a file has a term: in its name, in its folders, in a symbol that it defines
// or somewhere in its text.
type place int

const (
	inName place = iota
	inFolder
	inSymbol
	inText
	placeCount
)

// placeWeights are what the places are worth.
var placeWeights = [placeCount]float64{inName: 4, inFolder: 1, inSymbol: 2, inText: 0.6}

// Shares of a weight.
const (
	asPart  = 0.6 // where a term is a part of a longer one: list in tasklist
	asProse = 0.4 // of a file without a scanner: text, data
	asTest  = 0.6 // of a file of tests: it is found beside the file that it tests
)

// Bounds of the files that are shown for an instruction.
const (
	mostRareTerms = 6 // terms that have files of their own, however the sum of all comes out
	ofEachTerm    = 3 // files of each of them
	mostNamed     = 5 // symbols of a file that have terms of the instruction
	fewSymbols    = 1 // symbols of a file where fewer have them
	rareShare     = 8 // a term that one in so many files has anywhere is none of the rarest
)

// asked is a term of an instruction with its weights in a repository.
type asked struct {
	term   string
	weight float64
	places [placeCount]float64
	files  int // that have it in any of the places
}

// hit is an asked term in a file: whole, or as a part of a longer one.
type hit struct {
	term  int // its place in the list of asked ones
	place place
	share float64
}

// matchedFile is a file that has terms of the instruction.
type matchedFile struct {
	entry   gitops.Entry
	hits    []hit
	score   float64
	symbols []usedSymbol // the most used first
	users   int
	named   int // terms in its name
}

// matching looks up the terms of an instruction in the names of a repository.
type matching struct {
	asked []asked
	hits  map[string][]hit // by a term of a name: the asked ones in it, without a place
}

// matchFiles orders the files that have terms of an instruction, the best first. Rare terms
// of the repository weigh more than common ones, and how often a file is used decides
// between equals alone.
func (r *Map) matchFiles(instruction string) ([]matchedFile, *matching) {
	m := &matching{hits: map[string][]hit{}}
	for term, weight := range readAsked(instruction) {
		m.asked = append(m.asked, asked{term: term, weight: weight})
	}
	slices.SortFunc(m.asked, func(a, b asked) int { return strings.Compare(a.term, b.term) })
	if len(m.asked) == 0 {
		return nil, m
	}
	m.findParts(r)
	central := make(map[string]centralFile, len(r.central))
	for _, f := range r.central {
		central[f.path] = f
	}
	inTexts := r.index.findFiles(m.asked)
	var files []matchedFile
	for _, e := range r.entries {
		if isForeign(e.Path) || e.Mode == gitops.ModeSymlink || e.Mode == gitops.ModeGitlink {
			continue
		}
		f := matchedFile{entry: e, symbols: central[e.Path].symbols, users: central[e.Path].score}
		f.readHits(m, inTexts[e.Path])
		files = append(files, f)
	}
	m.weighTerms(files)
	for i := range files {
		files[i].score = files[i].sumHits(m, nil)
	}
	files = slices.DeleteFunc(files, func(f matchedFile) bool { return f.score <= 0 })
	slices.SortFunc(files, func(a, b matchedFile) int {
		switch {
		case a.score != b.score:
			return cmp.Compare(b.score, a.score)
		case a.users != b.users:
			return b.users - a.users
		}
		return strings.Compare(a.entry.Path, b.entry.Path)
	})
	return files, m
}

// findParts fills in the hits: each asked term is one of itself, and of the longer terms of
// the repository's names that are made of it and another one: list of tasklist, not of
// listen.
func (m *matching) findParts(r *Map) {
	const shortest = 4
	for i, a := range m.asked {
		m.hits[a.term] = append(m.hits[a.term], hit{term: i, share: 1})
	}
	seen := map[string]bool{}
	note := func(name string) {
		for _, term := range splitTerms(name) {
			if seen[term] {
				continue
			}
			seen[term] = true
			for i, a := range m.asked {
				if len(a.term) < shortest || len(term) < len(a.term)+shortestTerm {
					continue
				}
				rest, is := strings.CutPrefix(term, a.term)
				if !is {
					rest, is = strings.CutSuffix(term, a.term)
				}
				if is && len(r.index.files[stemTerm(rest)]) > 0 {
					m.hits[term] = append(m.hits[term], hit{term: i, share: asPart})
				}
			}
		}
	}
	for _, e := range r.entries {
		note(e.Path)
	}
	for _, f := range r.central {
		for _, s := range f.symbols {
			note(s.Name)
		}
	}
}

// readHits finds the asked terms in a file; texts are those of its text.
func (f *matchedFile) readHits(m *matching, texts []int) {
	base := path.Base(f.entry.Path)
	name := splitTerms(strings.TrimSuffix(base, path.Ext(base)))
	f.named = len(name)
	f.addHits(m, inName, name)
	f.addHits(m, inFolder, splitTerms(path.Dir(f.entry.Path)))
	for _, s := range f.symbols {
		f.addHits(m, inSymbol, splitTerms(s.Name))
	}
	for _, i := range texts {
		f.hits = append(f.hits, hit{i, inText, 1})
	}
}

func (f *matchedFile) addHits(m *matching, at place, terms []string) {
	for _, term := range terms {
		for _, h := range m.hits[term] {
			h.place = at
			if !slices.Contains(f.hits, h) {
				f.hits = append(f.hits, h)
			}
		}
	}
}

// weighTerms gives the asked terms their weights among these files. A place in which few
// files have a term tells more.
func (m *matching) weighTerms(files []matchedFile) {
	having := make([][placeCount]int, len(m.asked))
	for _, f := range files {
		anywhere := map[int]bool{}
		counted := map[hit]bool{}
		for _, h := range f.hits {
			if anywhere[h.term] = true; !counted[hit{term: h.term, place: h.place}] {
				counted[hit{term: h.term, place: h.place}] = true
				having[h.term][h.place]++
			}
		}
		for i := range anywhere {
			m.asked[i].files++
		}
	}
	for i := range m.asked {
		for p := range placeCount {
			m.asked[i].places[p] = m.asked[i].weight * placeWeights[p] * math.Log(1+float64(len(files))/float64(1+having[i][p]))
		}
	}
}

// sumHits is how well a file fits the asked terms, or one of them alone: of each its best
// place.
func (f *matchedFile) sumHits(m *matching, only *int) float64 {
	best := map[int]float64{}
	named := map[int]bool{}
	for _, h := range f.hits {
		if only != nil && h.term != *only {
			continue
		}
		best[h.term] = max(best[h.term], h.share*m.asked[h.term].places[h.place])
		if h.place == inName {
			named[h.term] = true
		}
	}
	sum := 0.0
	for i := range m.asked { // in an order: sums of floats depend on it
		sum += best[i]
	}
	if f.named > 0 { // a name of these terms alone is meant rather than one of many others
		sum *= 1 + 0.25*min(1, float64(len(named))/float64(f.named))
	}
	switch {
	case scanners[LanguageOf(f.entry.Path)] == nil:
		sum *= asProse
	case company.IsTest(f.entry.Path):
		sum *= asTest
	}
	return sum
}

// chooseMatched are the lines of the files that have room, in order, and the folders of these
// files: those that fit all terms together, and among them the best of each of the rarest
// terms, which one common term must not crowd out.
func (r *Map) chooseMatched(instruction string, room int) (lines []string, folders map[string]bool) {
	files, m := r.matchFiles(instruction)
	kept := map[string]string{} // lines by path
	keep := func(f matchedFile) bool {
		line := f.writeLine(m)
		if len(line) > room {
			return false
		}
		room -= len(line)
		kept[f.entry.Path] = line
		return true
	}
	for _, term := range m.listRarest(len(r.entries)) {
		own := make([]matchedFile, 0, len(files)) // their score is that of the term alone
		for _, f := range files {
			if f.score = f.sumHits(m, &term); f.score > m.asked[term].places[inText] {
				own = append(own, f)
			}
		}
		slices.SortStableFunc(own, func(a, b matchedFile) int { return cmp.Compare(b.score, a.score) })
		for _, f := range own[:min(ofEachTerm, len(own))] {
			if kept[f.entry.Path] == "" {
				keep(f)
			}
		}
	}
	for _, f := range files {
		if kept[f.entry.Path] == "" && !keep(f) {
			break
		}
	}
	folders = map[string]bool{}
	for _, f := range files {
		if line := kept[f.entry.Path]; line != "" {
			lines = append(lines, line)
			for dir := path.Dir(f.entry.Path); dir != "." && !folders[dir]; dir = path.Dir(dir) {
				folders[dir] = true
			}
		}
	}
	return lines, folders
}

// listRarest are the places of the asked terms that tell most, the first before the others.
func (m *matching) listRarest(files int) []int {
	var out []int
	for i, a := range m.asked {
		if a.files > 0 && a.files*rareShare <= files {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(m.asked[b].places[inName], m.asked[a].places[inName]) })
	return out[:min(mostRareTerms, len(out))]
}

// writeLine is the line of a file: its name, and its symbols that have terms of the
// instruction, or one that others use most.
func (f matchedFile) writeLine(m *matching) string {
	scores := make(map[string]float64, len(f.symbols))
	named := 0
	for _, s := range f.symbols {
		own := matchedFile{entry: f.entry}
		own.addHits(m, inSymbol, splitTerms(s.lastName()))
		if scores[s.Name] = own.sumHits(m, nil); scores[s.Name] > 0 {
			named++
		}
	}
	symbols := slices.Clone(f.symbols)
	slices.SortStableFunc(symbols, func(a, b usedSymbol) int { return cmp.Compare(scores[b.Name], scores[a.Name]) })
	most := min(mostNamed, max(named, fewSymbols), len(symbols))
	if most == 0 {
		return "- " + safetext.EscapeLine(f.entry.Path, mostPath) + "\n"
	}
	return centralFile{path: f.entry.Path, symbols: symbols[:most]}.writeLine()
}
