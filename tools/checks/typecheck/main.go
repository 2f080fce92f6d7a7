// Command typecheck checks the types of packages and of all that they import, from their
// sources, for the system that GOOS and GOARCH name:
//
//	GOOS=darwin GOARCH=arm64 typecheck -C .. ./cmd/company
//
// What does not compile there is nearly always an error of types, and this takes seconds where
// a compiler that has nothing in its cache takes minutes. It ends with 1 and the errors.
package main

import (
	"flag"
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("C", ".", "folder of the module")
	flag.Parse()
	if err := check(*dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// check loads the packages that the patterns name, and everything below them.
func check(dir string, patterns []string) error {
	loaded, err := packages.Load(
		&packages.Config{Mode: packages.LoadAllSyntax, Dir: dir, Env: append(os.Environ(), "CGO_ENABLED=0")}, patterns...)
	if err != nil {
		return err
	}
	all := 0
	packages.Visit(loaded, nil, func(*packages.Package) { all++ })
	if n := packages.PrintErrors(loaded); n > 0 {
		return fmt.Errorf("typecheck: %d errors in %d packages", n, all)
	}
	if all == 0 {
		return fmt.Errorf("typecheck: no package matches %q", patterns)
	}
	return nil
}
