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
	"company/internal/safetext"
)

// Bounds of the ranking.
const (
	mostNames    = 1 << 19 // different names that are counted, of all files
	mostDefiners = 4       // a name that more files define says nothing of any of them
)

// ranking counts which files mention a name. It takes file by file and keeps no text.
type ranking struct {
	mentions map[string]int      // by name: how many files mention it
	defined  map[string]int      // by name: how many files define it
	files    map[string]fileInfo // by path, those with symbols
}

// fileInfo is what the map keeps of a file.
type fileInfo struct {
	doc     string
	symbols []Symbol
	isTest  bool
	isGo    bool
}

// isSeen reports whether other folders see the symbol: a lower-case name of Go they do not.
func (f fileInfo) isSeen(s Symbol) bool { return !f.isGo || token.IsExported(s.lastName()) }

func newRanking() *ranking {
	return &ranking{map[string]int{}, map[string]int{}, map[string]fileInfo{}}
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
	for name := range o.words {
		if _, known := r.mentions[name]; known || len(r.mentions) < mostNames {
			r.mentions[name]++
		}
	}
	info := fileInfo{doc: o.doc, isGo: o.language == "Go", isTest: company.IsTest(path) || strings.HasSuffix(pathpkg.Dir(path), "test")}
	if !info.isTest && !o.generated {
		info.symbols = o.symbols
		seen := map[string]bool{}
		for _, s := range o.symbols {
			if name := s.lastName(); !seen[name] && info.isSeen(s) {
				seen[name] = true
				r.defined[name]++
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

// countUsers is how many other files mention the symbol, shared among the files that define
// it. A method is used by no more files than its type: many types have a method of that name.
func (r *ranking) countUsers(s Symbol) int {
	owner, _, isMethod := strings.Cut(s.Name, ".")
	users := r.countMentions(s.lastName())
	if isMethod {
		users = min(users, r.countMentions(owner))
	}
	return users
}

func (r *ranking) countMentions(name string) int {
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
	symbols []usedSymbol
	more    int // symbols besides
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
				used.users = r.countUsers(s)
			}
			all = append(all, used)
		}
		slices.SortStableFunc(all, func(a, b usedSymbol) int { return b.users - a.users })
		kept := min(mostPerFile, len(all))
		f := centralFile{path: path, symbols: slices.Clone(all[:kept]), more: len(all) - kept}
		for _, s := range all[:min(few, kept)] {
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
			docs[path] = strings.Clone(safetext.Cut(info.doc, longestDoc))
		}
	}
	return docs
}
