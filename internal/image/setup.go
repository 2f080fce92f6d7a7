package image

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"company/internal/company"

	dockercontainer "github.com/docker/docker/api/types/container"
)

// setUp runs the president's set-up commands, one after another, as root in a
// build container. What they change is known to the daemon alone, so this
// layer is committed and not written by us. They have no network: what they
// need is in the image already.
func (b *Builder) setUp(commands []string) buildFunc {
	return func(ctx context.Context, under *found, s step, _ string) (*found, error) {
		script := "set -e; exec >" + buildLog + " 2>&1\n"
		for i, c := range commands {
			script += fmt.Sprintf("echo 'set-up command %d'\n( %s\n)\n", i+1, c)
		}
		script += "rm " + buildLog + "\n"
		j := job{name: s.name(), image: under.id, script: script, root: true, timeout: 15 * time.Minute}
		err := b.runLocked(ctx, j, func(ctx context.Context, name string, exit int64) error {
			if exit != 0 {
				text := b.tail(ctx, name, buildLog)
				e := company.E(company.EImage, "a set-up command of the worker image ended with an error").
					Because(fmt.Sprintf("exit code %d", exit)).Wrap(errors.New(lastLine(text))).
					Fix("try the commands of container.setup in a container; they run as root without a network")
				e.Details = text
				return e
			}
			config := imageConfig(s, under)
			_, err := b.docker.ContainerCommit(ctx, name, dockercontainer.CommitOptions{Reference: s.tag(), Config: &config})
			return daemonError("commit the set-up", err)
		})
		if err != nil {
			return nil, err
		}
		f, err := b.find(ctx, s)
		if err == nil && f == nil {
			err = errors.New("the daemon lost the image of the set-up")
		}
		return f, err
	}
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}
