package dockerapi

import (
	"context"
	"errors"
	"os"
	"os/user"

	"github.com/docker/docker/client"

	"company/internal/company"
)

// WrapError turns an error of the Docker client into one of ours. An error that
// is ours already (a refusal of the allow-list) keeps its code. Where a missing
// container or a taken name means something, the caller has looked before.
func WrapError(op string, err error) error {
	if err == nil {
		return nil
	}
	if ours := (*company.Error)(nil); errors.As(err, &ours) {
		return ours
	}
	e := company.E(company.EDocker, "the Docker daemon refused").Wrap(err)
	e.Class = company.Recoverable
	switch {
	case errors.Is(err, os.ErrPermission):
		e.Message = "no permission to talk to the Docker daemon"
		e.Class = company.HumanRequired
		e.Hint = "sudo usermod -aG docker " + userName() + ", then log in again"
	case errors.Is(err, context.Canceled):
		e.Message = "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		e.Code = company.ETimeout
		e.Message = "the Docker daemon did not answer in time"
		e.Hint = "look at the daemon with: docker info"
	case client.IsErrConnectionFailed(err):
		// Recoverable: a daemon that is restarted, as an update does, is back soon. Who begins
		// asks for a person (docker.Open).
		e.Message = "the Docker daemon does not answer"
		e.Hint = "start Docker, or point DOCKER_HOST to it; check with: docker version"
	}
	e.Op = op
	return e
}

// userName is the user that runs this program, as a shell command names them.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "$USER"
}
