package repomap

import (
	"context"
	"errors"
	"go/token"
	pathpkg "path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/gitops"
)

// Bounds of the ranking.
const (
	mostNames    = 1 << 19 // different names that are counted, of all files
	mostDefiners = 4       // a name that more files define says nothing of any of them
)

// ranking counts which files mention a name. It takes file by file and keeps no text.
type ranking struct {
	mentions map[usedName]int    // how many files mention a name
	defined  map[usedName]int    // how many files define it
	files    map[string]fileInfo // by path, those with symbols
	index    textIndex
}

// usedName is a name in a language: a mention in one language is no use of another one's symbol.
type usedName struct{ language, name string }

// families are languages whose files use each other's names.
var families = map[string]string{"JavaScript": "TypeScript", "C++": "C"}

// familyOf is the language by which the names of a file are counted.
func familyOf(language string) string {
	if family := families[language]; family != "" {
		return family
	}
	return language
}

// fileInfo is what the map keeps of a file.
type fileInfo struct {
	doc     string
	symbols []Symbol
	isTest  bool
	family  string
}

// isSeen reports whether other folders see the symbol: a lower-case name of Go they do not.
func (f fileInfo) isSeen(s Symbol) bool { return f.family != "Go" || token.IsExported(s.lastName()) }

func newRanking() *ranking {
	return &ranking{map[usedName]int{}, map[usedName]int{}, map[string]fileInfo{}, textIndex{files: map[string][]int32{}}}
}

// scanned is a file that is being scanned: its outline, once it is there.
type scanned struct {
	path    string
	outline chan outline
}

// countFiles takes up files, in order. Some are scanned beside each other while git
// reads the next ones.
func (r *ranking) countFiles(ctx context.Context, m *gitops.Mirror, files []gitops.Entry) error {
	queue := make(chan scanned, 2*runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	var failed error
	guard := func(do func()) {
		err := company.Guard("scanning a file of the repository", func() error { do(); return nil })
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
	}
	var counting, scanning sync.WaitGroup
	counting.Go(func() {
		for s := range queue {
			o := <-s.outline
			guard(func() { r.countFile(s.path, o) })
		}
	})
	err := m.ReadFiles(ctx, files, func(e gitops.Entry, text []byte) error {
		s := scanned{e.Path, make(chan outline, 1)}
		scanning.Go(func() {
			var o outline
			guard(func() { o = outlineOf(e.Path, text) })
			s.outline <- o
		})
		queue <- s
		return ctx.Err()
	})
	close(queue)
	scanning.Wait()
	counting.Wait()
	return errors.Join(err, failed)
}

// countFile takes up a file.
func (r *ranking) countFile(path string, o outline) {
	family := familyOf(o.language)
	for word := range o.words {
		name := usedName{family, word}
		if _, known := r.mentions[name]; known || len(r.mentions) < mostNames {
			r.mentions[name]++
		}
	}
	r.index.addFile(path, o.words)
	info := fileInfo{doc: o.doc, family: family, isTest: company.IsTest(path) || strings.HasSuffix(pathpkg.Dir(path), "test")}
	if !info.isTest && !o.generated {
		info.symbols = o.symbols
		seen := map[string]bool{}
		for _, s := range o.symbols {
			if name := s.lastName(); !seen[name] && info.isSeen(s) {
				seen[name] = true
				r.defined[usedName{family, name}]++
			}
		}
	}
	if info.doc != "" || len(info.symbols) > 0 {
		r.files[path] = info
	}
}

// lastName is what others call the symbol by.
func (s Symbol) lastName() string {
	return s.Name[strings.LastIndexByte(s.Name, '.')+1:]
}

// countUsers is how many other files of its language mention the symbol, shared among the files that define
// it. A method is used by no more files than its type: many types have a method of that name.
func (r *ranking) countUsers(s Symbol, family string) int {
	owner, _, isMethod := strings.Cut(s.Name, ".")
	users := r.countMentions(usedName{family, s.lastName()})
	if isMethod {
		users = min(users, r.countMentions(usedName{family, owner}))
	}
	return users
}

func (r *ranking) countMentions(name usedName) int {
	n := r.defined[name]
	if n == 0 || n > mostDefiners {
		return 0
	}
	return max(0, r.mentions[name]-n) / n
}

// usedSymbol is a symbol with how many other files mention it.
type usedSymbol struct {
	Symbol
	users int
}

// centralFile is a file with its most used symbols.
type centralFile struct {
	path    string
	score   int
	symbols []usedSymbol // the most used first
}

// listCentral orders the files by how much others use their symbols, the most used first.
// A few symbols stand for a file, so that a long list of small ones weighs no more.
func (r *ranking) listCentral() []centralFile {
	const few = 5
	var out []centralFile
	for path, info := range r.files {
		if len(info.symbols) == 0 {
			continue
		}
		var all []usedSymbol
		for _, s := range info.symbols {
			used := usedSymbol{Symbol: s}
			if info.isSeen(s) {
				used.users = r.countUsers(s, info.family)
			}
			all = append(all, used)
		}
		slices.SortStableFunc(all, func(a, b usedSymbol) int { return b.users - a.users })
		f := centralFile{path: path, symbols: all}
		for _, s := range all[:min(few, len(all))] {
			f.score += s.users
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b centralFile) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return strings.Compare(a.path, b.path)
	})
	return out
}

// listDocs is what files say of themselves, by path.
func (r *ranking) listDocs() map[string]string {
	docs := map[string]string{}
	for path, info := range r.files {
		if info.doc != "" {
			docs[path] = strings.Clone(cutDoc(info.doc, longestDoc))
		}
	}
	return docs
}
