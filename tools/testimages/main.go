// Command testimages makes the worker images that tests share, of packages from Debian's archive. Set-up calls it, so
// that no test fetches a package. Where the images exist, it is done at once.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"company/internal/company"
	"company/internal/container/docker"
	"company/internal/container/image"
	"company/internal/container/service"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := makeImages(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s\n", err, company.DetailsOf(err))
		os.Exit(1)
	}
}

func makeImages(ctx context.Context) error {
	runtime, err := docker.Open(ctx, docker.Options{})
	if err != nil {
		return err
	}
	defer runtime.Close()
	builder, err := image.New(image.Config{Runtime: runtime, Progress: func(line string) { fmt.Println(line) }})
	if err != nil {
		return err
	}
	defer builder.Close()
	// make test/long has tests with other packages, and fetches those itself.
	for _, request := range []image.Request{{}, {Services: []service.Wish{{Name: "postgres"}}}} {
		if _, err := builder.Ensure(ctx, request); err != nil {
			return err
		}
	}
	return nil
}
