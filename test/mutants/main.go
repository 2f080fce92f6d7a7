// Command mutants breaks the core on purpose, one place at a time, and asks the
// tests whether they notice. It is run from the module's root:
//
//	go run ./test/mutants                    the named ones and a sample of all
//	go run ./test/mutants -short             only the named ones
//	go run ./test/mutants -n 0               every one there is (hours)
//	go run ./test/mutants -func State.claimedRun every one of a function
//	go run ./test/mutants -file run.go       every one of a file
//	go run ./test/mutants -list              what there is, without trying it
//	go run ./test/mutants -package internal/company/historytest -tests internal/company
//	                                         a sample of another package, by the tests of a third
//
// Mutants are made from the syntax tree (generate.go), so that names and layout
// of the code may change. One that does not compile is none. Many are built
// into one test binary, which an environment variable tells the one that is on;
// the checkout is not touched (go test -overlay). The tests that come to the
// changed place are asked, the quickest first. What no test notices is shown
// with its line before and after; a line that a mutant does not really change
// says so by a directive, which must be true:
//
//	//mutant:equal kind,kind=put why
//
// The exit code is 0 when the named mutants were noticed by their tests and no
// more than -most percent of the others were not noticed, else 1.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// options say which mutants are tried.
type options struct {
	folder   string // of the package, from the module's root
	tests    string // the folder of the package whose tests are asked; "": its own
	short    bool
	list     bool
	seed     uint64
	n        int
	file     string
	function string
	kind     string
	most     float64
	parallel int
	names    []named
	out      io.Writer
	progress io.Writer
	patience int // seconds, see run
}

// coreFolder is the folder of the package that the named mutants are of.
const coreFolder = "internal/company"

func main() {
	o := options{names: names, out: os.Stdout, progress: os.Stderr, patience: patience}
	flag.StringVar(&o.folder, "package", coreFolder, "the folder of the package that is broken")
	flag.StringVar(&o.tests, "tests", "", "the folder of the package whose tests are asked, where it is another one")
	flag.BoolVar(&o.short, "short", false, "only the named mutants")
	flag.BoolVar(&o.list, "list", false, "list the mutants, try none")
	flag.Uint64Var(&o.seed, "seed", 1, "another sample for another number")
	flag.IntVar(&o.n, "n", 400, "how many are tried, in proportion of each file and kind; 0: all")
	flag.StringVar(&o.file, "file", "", "all of this file")
	flag.StringVar(&o.function, "func", "", "all of these functions, with commas between; of a method Type.Name")
	flag.StringVar(&o.kind, "kind", "", "only of this kind: "+strings.Join(kinds, ", "))
	flag.Float64Var(&o.most, "most", 0, "how many percent may go unnoticed")
	flag.IntVar(&o.parallel, "p", runtime.NumCPU(), "how many are tried at once")
	flag.Parse()
	if o.folder != coreFolder {
		o.names = nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (bool, error) {
	s, err := load(ctx, o.folder, cmp.Or(o.tests, o.folder))
	if err != nil {
		return false, err
	}
	s.patience = o.patience
	all, err := s.mutants()
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "company-mutants-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	good := true
	whole := o.file == "" && o.function == "" && o.kind == ""
	if (whole && len(o.names) > 0 || o.short) && !o.list {
		if good, err = s.tryNamed(ctx, o, dir, all); err != nil || o.short {
			return good, err
		}
	}
	chosen, err := s.keepCompiling(o.choose(all))
	if err != nil {
		return false, err
	}
	if len(chosen) == 0 {
		return false, fmt.Errorf("there is no such mutant: go run ./test/mutants -list shows what there is")
	}
	made := len(chosen)
	if whole && o.n > 0 {
		chosen = sample(chosen, o.seed, o.n)
	}
	if o.list {
		listMutants(o.out, chosen)
		return true, nil
	}
	results, err := s.tryAll(ctx, o, dir, chosen)
	if err != nil {
		return false, err
	}
	return report(o, made, results) && good, nil
}

// choose takes the mutants that are asked for.
func (o options) choose(all []*mutant) []*mutant {
	return slices.DeleteFunc(slices.Clone(all), func(m *mutant) bool {
		return o.file != "" && m.file.name != o.file ||
			o.function != "" && !slices.Contains(strings.Split(o.function, ","), m.function()) ||
			o.kind != "" && m.kind != o.kind
	})
}

// sample takes n mutants, of each file and each kind as many as its part of all
// is.
func sample(all []*mutant, seed uint64, n int) []*mutant {
	if n >= len(all) {
		return all
	}
	shuffled := slices.Clone(all)
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortStableFunc(shuffled, func(a, b *mutant) int {
		return strings.Compare(a.file.name+" "+a.kind, b.file.name+" "+b.kind)
	})
	taken := make([]*mutant, 0, n)
	for i := range n {
		taken = append(taken, shuffled[i*len(shuffled)/n])
	}
	return taken
}

// tryNamed asks about each named mutant the one test that must notice it.
func (s *source) tryNamed(ctx context.Context, o options, dir string, all []*mutant) (bool, error) {
	var list []*mutant
	for _, n := range o.names {
		m, err := n.find(all)
		if err != nil {
			return false, err
		}
		list = append(list, m)
	}
	if fit, err := s.keepCompiling(list); err != nil {
		return false, err
	} else if len(fit) != len(list) {
		i := slices.IndexFunc(list, func(m *mutant) bool { return !slices.Contains(fit, m) })
		return false, fmt.Errorf("%s does not compile", o.names[i])
	}
	bin := filepath.Join(dir, "named.test")
	if err := s.build(ctx, dir, bin, list); err != nil {
		return false, err
	}
	verdicts := make([]string, len(list))
	bad := 0
	if err := forEach(o.parallel, len(list), func(i int) error {
		verdicts[i] = s.tryOne(ctx, bin, i+1, o.names[i].test)
		return ctx.Err()
	}); err != nil {
		return false, err
	}
	for i, n := range o.names {
		if !strings.HasPrefix(verdicts[i], killed) {
			bad++
		}
		fmt.Fprintf(o.out, "%s:%d\t%s\t%s: %s\n", list[i].file.name, list[i].line(), n.name, n.test, verdicts[i])
	}
	fmt.Fprintf(o.out, "\n%d of %d named mutants were noticed by the test that must\n\n", len(list)-bad, len(list))
	return bad == 0, nil
}

// tryOne asks one test about a mutant, and about the clean package first.
func (s *source) tryOne(ctx context.Context, bin string, n int, test string) string {
	clean := s.run(ctx, bin, 0, 0, []string{test})
	if clean.verdict != survived {
		return "does not pass on the clean package: " + clean.verdict
	}
	return s.run(ctx, bin, n, clean.took, []string{test}).verdict
}

// perBuild is how many mutants one test binary holds.
const perBuild = 400

func (s *source) tryAll(ctx context.Context, o options, dir string, list []*mutant) ([]result, error) {
	st, err := s.measure(ctx, dir, o.parallel)
	if err != nil {
		return nil, err
	}
	results := make([]result, 0, len(list))
	var tried atomic.Int64
	for part := range slices.Chunk(list, perBuild) {
		bin := filepath.Join(dir, "mutants.test")
		if err := s.build(ctx, dir, bin, part); err != nil {
			return nil, err
		}
		// The switches alone must change nothing.
		var quickOnes []string
		for _, t := range st.tests {
			if t.took < quick {
				quickOnes = append(quickOnes, t.name)
			}
		}
		if r := s.run(ctx, bin, 0, 0, quickOnes); len(quickOnes) > 0 && r.verdict != survived {
			return nil, fmt.Errorf("with no mutant on, the tests do not pass: %s\n%s", r.verdict, r.output)
		}
		done := make([]result, len(part))
		err := forEach(o.parallel, len(part), func(i int) error {
			done[i] = st.tryMutant(ctx, bin, i+1, part[i])
			if r := done[i]; !r.isGood() && r.mutant.equal == "" && ctx.Err() == nil {
				printResults(o.progress, "", []result{r})
			}
			if n := tried.Add(1); n%50 == 0 {
				fmt.Fprintf(o.progress, "%d of %d tried\n", n, len(list))
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		results = append(results, done...)
	}
	return results, nil
}

// forEach calls do for 0 to n-1, some at once, and returns the first error.
func forEach(parallel, n int, do func(int) error) error {
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, parallel) {
		wg.Go(func() {
			for i := range next {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
