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

// Limits of the ranking.
const (
	mostNames    = 1 << 19 // different names that are counted in all files
	mostDefiners = 4       // a name that more files define is not counted
)

// ranking counts the files that mention a name. It processes one file at a time and keeps no text.
type ranking struct {
	mentions map[usedName]int    // number of files that mention a name
	defined  map[usedName]int    // number of files that define it
	files    map[string]fileInfo // files with symbols or docs, by path
	index    textIndex
}

// usedName is a name in a language. A mention in one language is not a use of another language's symbol.
type usedName struct{ language, name string }

// families maps languages to the language whose files use the same names.
var families = map[string]string{"JavaScript": "TypeScript", "C++": "C"}

// familyOf returns the language under which the names of a file are counted.
func familyOf(language string) string {
	if family := families[language]; family != "" {
		return family
	}
	return language
}

// fileInfo is the retained information about a file.
type fileInfo struct {
	doc     string
	symbols []Symbol
	isTest  bool
	family  string
}

// isSeen reports whether other folders can use the symbol. They cannot use unexported names of Go.
func (f fileInfo) isSeen(s Symbol) bool { return f.family != "Go" || token.IsExported(s.lastName()) }

func newRanking() *ranking {
	return &ranking{map[usedName]int{}, map[usedName]int{}, map[string]fileInfo{}, textIndex{files: map[string][]int32{}}}
}

// scanned is a file under scan. Its outline is sent when it is ready.
type scanned struct {
	path    string
	outline chan outline
}

// countFiles counts files in order. Several are scanned in parallel while git reads the next ones.
func (r *ranking) countFiles(ctx context.Context, mirror *gitops.Mirror, files []gitops.Entry) error {
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
	err := mirror.ReadFiles(ctx, files, func(entry gitops.Entry, text []byte) error {
		s := scanned{entry.Path, make(chan outline, 1)}
		scanning.Go(func() {
			var o outline
			guard(func() { o = outlineOf(entry.Path, text) })
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

// countFile adds a file to the ranking.
func (r *ranking) countFile(path string, o outline) {
	family := familyOf(o.language)
	for word := range o.words {
		name := usedName{family, word}
		if _, known := r.mentions[name]; known || len(r.mentions) < mostNames {
			r.mentions[name]++
		}
	}
	r.index.addFile(path, o.words)
	info := fileInfo{doc: o.doc, family: family,
		isTest: company.IsTest(path) || strings.HasSuffix(pathpkg.Dir(path), "test")}
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

// lastName returns the symbol's name without its type.
func (s Symbol) lastName() string {
	return s.Name[strings.LastIndexByte(s.Name, '.')+1:]
}

// countUsers returns the number of other files of its language that mention the symbol, divided by the number of
// files that define it. A method has at most as many users as its type, because many types have methods of the
// same name.
func (r *ranking) countUsers(symbol Symbol, family string) int {
	owner, _, isMethod := strings.Cut(symbol.Name, ".")
	users := r.countMentions(usedName{family, symbol.lastName()})
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

// usedSymbol is a symbol with the number of other files that mention it.
type usedSymbol struct {
	Symbol
	users int
}

// centralFile is a file with its most used symbols.
type centralFile struct {
	path    string
	score   int
	symbols []usedSymbol // most used first
}

// listCentral returns the files by the use of their symbols, most used first. Only a few symbols of each file
// count, so a long list of rarely used ones adds no weight.
func (r *ranking) listCentral() []centralFile {
	const few = 5
	var out []centralFile
	for path, info := range r.files {
		if len(info.symbols) == 0 {
			continue
		}
		var all []usedSymbol
		for _, symbol := range info.symbols {
			used := usedSymbol{Symbol: symbol}
			if info.isSeen(symbol) {
				used.users = r.countUsers(symbol, info.family)
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

// listDocs returns the docs of files, by path.
func (r *ranking) listDocs() map[string]string {
	docs := map[string]string{}
	for path, info := range r.files {
		if info.doc != "" {
			docs[path] = strings.Clone(cutDoc(info.doc, longestDoc))
		}
	}
	return docs
}
