// Surface is a room that could be added: it prints the overview of a running
// office and the events that follow, on the three packages that surfaces are
// built on. The tests of archtest hold it to them, and run it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"company/internal/api/client"
	"company/internal/present/feed"
	"company/internal/present/view"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run shows the office of a folder until its process ends.
func run(ctx context.Context, out io.Writer, dir string) error {
	office, err := client.Connect(ctx, dir)
	if err != nil {
		return err
	}
	defer office.Close()
	v, err := office.Overview(ctx, true)
	if err != nil {
		return err
	}
	if err := printOverview(out, v); err != nil {
		return err
	}
	err = office.Follow(ctx, feed.Range{From: 1}, func(it feed.Item) error {
		_, err := fmt.Fprintln(out, it.Render(feed.Style{}))
		return err
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func printOverview(out io.Writer, v view.Overview) error {
	_, err := fmt.Fprintf(out, "%s%d open pull requests\n", v.RenderText(), len(v.OpenPRs))
	return err
}
