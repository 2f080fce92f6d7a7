package dockerapi

import (
	"context"
	"errors"
	"os"
	"os/user"

	"github.com/docker/docker/client"

	"company/internal/company"
)

// WrapError converts an error of the Docker client into one of ours. An error that is already ours (a
// refusal of the allow-list) keeps its code. Callers that handle a missing container or a taken name
// must check for them before.
func WrapError(op string, err error) error {
	if err == nil {
		return nil
	}
	if ours := (*company.Error)(nil); errors.As(err, &ours) {
		return ours
	}
	fault := company.E(company.EDocker, "the Docker daemon refused").Wrap(err)
	fault.Class = company.Recoverable
	switch {
	case errors.Is(err, os.ErrPermission):
		fault.Message = "no permission to talk to the Docker daemon"
		fault.Class = company.HumanRequired
		fault.Hint = "sudo usermod -aG docker " + userName() + ", then log in again"
	case errors.Is(err, context.Canceled):
		fault.Message = "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		fault.Code = company.ETimeout
		fault.Message = "the Docker daemon did not answer in time"
		fault.Hint = "look at the daemon with: docker info"
	case client.IsErrConnectionFailed(err):
		// Recoverable: a daemon that is restarted, for example by an update, is back soon. At the
		// start, docker.Open makes this error require a person.
		fault.Message = "the Docker daemon does not answer"
		fault.Hint = "start Docker, or point DOCKER_HOST to it; check with: docker version"
	}
	fault.Op = op
	return fault
}

// userName is the user that runs this program, as a shell command names them.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "$USER"
}
