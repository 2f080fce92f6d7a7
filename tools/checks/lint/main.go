// Command lint finds faults in Go code. It has the analyzers of go vet and those that the analyzers
// variable names, and leaves out what exceptions.go and //nolint comments except.
//
//	go vet -vettool=bin/lint ./...
//
// The go command calls it once per package and keeps the results. It ends with 1 and prints each
// fault with its place.
package main

import (
	"encoding/json"
	"log"
	"os"
	"slices"
	"strings"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/kisielk/errcheck/errcheck"
	"github.com/kkHAIKE/contextcheck"
	"github.com/ldez/usetesting"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/analysis/unitchecker"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/facts/deprecated"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"mvdan.cc/unparam/check"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("lint: ")
	if file := os.Args[len(os.Args)-1]; strings.HasSuffix(file, ".cfg") {
		unit, err := readUnit(file)
		if err != nil {
			log.Fatal(err)
		}
		isOurs := unit.ModulePath != "" && unit.ModuleVersion == "" // the standard library has no path
		if unit.VetxOnly && !isOurs {
			unitchecker.Run(file, importedFacts)
		}
	}
	all := analyzers()
	for _, a := range all {
		exceptFaults(a)
	}
	unitchecker.Main(all...)
}

func readUnit(file string) (unitchecker.Config, error) {
	var unit unitchecker.Config
	data, err := os.ReadFile(file)
	if err != nil {
		return unit, err
	}
	return unit, json.Unmarshal(data, &unit)
}

// importedFacts is what is found out about packages of others: which functions format like Printf,
// and what is deprecated. The rest takes long and says little about our own code.
var importedFacts = []*analysis.Analyzer{printf.Analyzer, deprecated.Analyzer}

// unwanted names the checks that are left out.
var unwanted = map[string]bool{
	// The comments of packages and symbols: test/archtest asks for the first, reviewers for the rest.
	"ST1000": true, "ST1020": true, "ST1021": true, "ST1022": true,
	// Error texts without a capital and a full stop: ours end as sentences do, because people read them.
	"ST1005": true,
	// Err of a scanner: what is read here ends with a line that says so, or is cut by a kill.
	"scannererr": true,
}

func analyzers() []*analysis.Analyzer {
	all := append(slices.Clone(vet.Suite), deprecated.Analyzer,
		bodyclose.Analyzer,      // a reply whose body stays open keeps its connection
		newContextcheck(),       // a call with a context of its own is not cancelled with its caller
		errcheck.Analyzer,       // an error that is not read is a fault that is not seen
		errorlint.NewAnalyzer(), // errors are wrapped: errors.Is and errors.As find them
		unparam,                 // a parameter that never varies is none
		newUsetesting(),         // what a test makes is gone with it
	)
	for _, set := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers} {
		for _, a := range set {
			all = append(all, a.Analyzer)
		}
	}
	return slices.DeleteFunc(all, func(a *analysis.Analyzer) bool { return unwanted[a.Name] })
}

func newContextcheck() *analysis.Analyzer {
	a := contextcheck.NewAnalyzer(contextcheck.Configuration{})
	// It uses them through buildssa, which does not hand them on any more.
	a.Requires = append(a.Requires, ctrlflow.Analyzer, inspect.Analyzer)
	return a
}

func newUsetesting() *analysis.Analyzer {
	a := usetesting.NewAnalyzer()
	for _, name := range []string{"contextbackground", "ostempdir"} {
		if err := a.Flags.Set(name, "true"); err != nil {
			log.Fatal(err)
		}
	}
	return a
}

var unparam = &analysis.Analyzer{
	Name:     "unparam",
	Doc:      "report parameters that are not used or always the same",
	Requires: []*analysis.Analyzer{buildssa.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		var checker check.Checker
		checker.Packages([]*packages.Package{{
			Fset: pass.Fset, Syntax: pass.Files, Types: pass.Pkg, TypesInfo: pass.TypesInfo,
		}})
		checker.ProgramSSA(pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).Pkg.Prog)
		issues, err := checker.Check()
		for _, issue := range issues {
			pass.Reportf(issue.Pos(), "%s", issue.Message())
		}
		return nil, err
	},
}
