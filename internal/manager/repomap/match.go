package repomap

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/safetext"
)

// place tells where a file has a term: in its name, in its folders, in a symbol that it defines, or elsewhere in
// its text.
type place int

const (
	inName place = iota
	inFolder
	inSymbol
	inText
	placeCount
)

// placeWeights holds the weights of the places.
var placeWeights = [placeCount]float64{inName: 4, inFolder: 1, inSymbol: 2, inText: 0.6}

// Factors of a weight.
const (
	asPart  = 0.6 // a term that is part of a longer one: list in tasklist
	asProse = 0.4 // a file without a scanner: text, data
	asTest  = 0.6 // a test file, which is found beside the file that it tests
)

// Limits of the files that are shown for an instruction.
const (
	mostRareTerms = 6 // rare terms whose own files are always shown
	ofEachTerm    = 3 // files of each of these terms
	mostNamed     = 5 // symbols of a file that match the instruction
	fewSymbols    = 1 // symbols of a file if fewer match
	rareShare     = 8 // a term is rare if at most 1/rareShare of the files have it
)

// asked is a term of an instruction, with its weights in a repository.
type asked struct {
	term   string
	weight float64
	places [placeCount]float64
	files  int // number of files with the term in any place
}

// hit is an asked term in a file, whole or as a part of a longer one.
type hit struct {
	term  int // index in the list of asked terms
	place place
	share float64
}

// matchedFile is a file with terms of the instruction.
type matchedFile struct {
	entry   gitops.Entry
	hits    []hit
	score   float64
	symbols []usedSymbol // most used first
	users   int
	named   int // number of terms in its name
}

// matching finds the terms of an instruction in the names of a repository.
type matching struct {
	asked []asked
	hits  map[string][]hit // by a term of a name: the asked terms in it, without a place
}

// matchFiles returns the files with terms of an instruction, best first. Terms that are rare in the repository
// weigh more. The number of users of a file only decides between equal scores.
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
	for _, item := range r.entries {
		if isForeign(item.Path) || item.Mode == gitops.ModeSymlink || item.Mode == gitops.ModeGitlink {
			continue
		}
		f := matchedFile{entry: item, symbols: central[item.Path].symbols, users: central[item.Path].score}
		f.readHits(m, inTexts[item.Path])
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

// findParts fills in the hits. Each asked term matches itself, and longer terms of the repository's names that
// consist of it and another known term: list matches tasklist, but not listen.
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
			for i, asked := range m.asked {
				if len(asked.term) < shortest || len(term) < len(asked.term)+shortestTerm {
					continue
				}
				rest, is := strings.CutPrefix(term, asked.term)
				if !is {
					rest, is = strings.CutSuffix(term, asked.term)
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

// readHits finds the asked terms in a file. texts are the indexes of the terms in its text.
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
		for _, hit := range m.hits[term] {
			hit.place = at
			if !slices.Contains(f.hits, hit) {
				f.hits = append(f.hits, hit)
			}
		}
	}
}

// weighTerms computes the weights of the asked terms among these files. A place weighs more if few files have
// the term there.
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

// sumHits returns how well a file fits all asked terms, or only one of them. Only the best place of each term
// counts.
func (f *matchedFile) sumHits(m *matching, only *int) float64 {
	best := map[int]float64{}
	named := map[int]bool{}
	for _, hit := range f.hits {
		if only != nil && hit.term != *only {
			continue
		}
		best[hit.term] = max(best[hit.term], hit.share*m.asked[hit.term].places[hit.place])
		if hit.place == inName {
			named[hit.term] = true
		}
	}
	sum := 0.0
	for i := range m.asked { // in a fixed order, because float sums depend on it
		sum += best[i]
	}
	if f.named > 0 { // a name with few other terms fits better
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

// chooseMatched returns the lines of the best files that fit into room, in order, and the folders of these
// files. It includes the best files of each of the rarest terms, so that a common term does not crowd them out.
func (r *Map) chooseMatched(instruction string, room int) (lines []string, folders map[string]bool) {
	files, matching := r.matchFiles(instruction)
	kept := map[string]string{} // lines by path
	keep := func(f matchedFile) bool {
		line := f.writeLine(matching)
		if len(line) > room {
			return false
		}
		room -= len(line)
		kept[f.entry.Path] = line
		return true
	}
	for _, term := range matching.listRarest(len(r.entries)) {
		own := make([]matchedFile, 0, len(files)) // with the score of this term alone
		for _, f := range files {
			if f.score = f.sumHits(matching, &term); f.score > matching.asked[term].places[inText] {
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

// listRarest returns the indexes of the rarest asked terms, most significant first.
func (m *matching) listRarest(files int) []int {
	var out []int
	for i, a := range m.asked {
		if a.files > 0 && a.files*rareShare <= files {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Compare(m.asked[b].places[inName], m.asked[a].places[inName])
	})
	return out[:min(mostRareTerms, len(out))]
}

// writeLine returns the line of a file: its path and its symbols that match the instruction, or else its most
// used one.
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
	limit := min(mostNamed, max(named, fewSymbols), len(symbols))
	if limit == 0 {
		return "- " + safetext.EscapeLine(f.entry.Path, mostPath) + "\n"
	}
	return centralFile{path: f.entry.Path, symbols: symbols[:limit]}.writeLine()
}
