// Command handbook writes texts that are made from the code: the generated parts of
// docs/ (make docs), and the man pages, completions and notices of a release.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"company/internal/surface/cli"
	"company/tools/handbook/generate"
)

const usage = `usage:
  handbook pages ROOT     write the generated parts of ROOT/docs
  handbook manual DIR     write man pages and completions into DIR, dated
                          SOURCE_DATE_EPOCH
  handbook release DIR    write man pages, completions and notices into DIR, dated
                          SOURCE_DATE_EPOCH`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s", usage)
	}
	switch args[0] {
	case "pages":
		return writePages(args[1])
	case "manual":
		return writeManual(args[1])
	case "release":
		return writeRelease(args[1])
	}
	return fmt.Errorf("%s", usage)
}

// writePages writes the generated parts of the docs of a tree.
func writePages(root string) error {
	pages, err := generate.Pages(root)
	if err != nil {
		return err
	}
	stale, err := generate.Stale(root, pages)
	if err != nil {
		return err
	}
	for _, file := range stale {
		fmt.Println("written:", file)
	}
	return generate.Write(root, pages)
}

// writeManual writes the man pages and the completions.
func writeManual(dir string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is the time of the release, in seconds: %w", err)
	}
	return errors.Join(
		generate.WriteManual(cli.Tree(), filepath.Join(dir, "man", "man1"), time.Unix(seconds, 0).UTC()),
		generate.WriteCompletions(cli.Tree(), filepath.Join(dir, "completions")),
	)
}

// writeRelease writes what a release has beside the program.
func writeRelease(dir string) error {
	if err := writeManual(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	notices, err := generate.Notices(ctx, ".", "./cmd/company", "./cmd/toolbox")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "THIRD-PARTY.txt"), notices, 0o644)
}
