package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

const setupScriptPath = "/opt/company/setup"

// setupFix is the fix for a failed set-up command.
const setupFix = "try the commands of container.setup in a container; they run as root, without a network but for apt"

// runSetup runs the president's set-up commands in order, as root in a build container. The layer is
// committed by the daemon, because only it knows the changed files. The commands have no network. Only
// apt can reach the operator's own Debian archives. Variables are passed over stdin and are in no file
// or setting of the container. The changed files are searched for their values.
func (b *Builder) runSetup(req Request, link aptLink) buildFunc {
	commands, env := req.Setup, req.SetupEnv
	script := "set -e\ncd /work\n" + link.setupScript()
	for i, c := range commands {
		script += fmt.Sprintf("echo 'set-up command %d'\n( %s\n)\n", i+1, c)
	}
	return func(ctx context.Context, under *existingImage, s layerStep, work string) (*existingImage, error) {
		stage := func(l *layer) error {
			return l.addBytes(strings.TrimPrefix(setupScriptPath, "/"), 0o755, []byte(script))
		}
		do := func(h *buildSession) error {
			values := map[string]string{}
			for name, v := range env {
				values[name] = v.Reveal()
			}
			h.step = "running the set-up commands"
			runResult, err := h.runCommand("", "sh "+setupScriptPath, values)
			if late := (*stepTimeout)(nil); errors.As(err, &late) {
				fault := company.E(company.EImage, "a set-up command of the worker image timed out").
					Because(fmt.Sprintf("it was killed after %s", late.limit)).Fix(setupFix).NeedsPerson()
				fault.Details = redactSecrets(late.output, env)
				return fault
			}
			if err != nil {
				return err
			}
			if runResult.ExitCode != 0 {
				text := redactSecrets(strings.TrimSpace(runResult.Text()), env)
				fault := company.E(company.EImage, "a set-up command of the worker image failed").
					Because(strings.TrimSpace(safetext.EscapeLine(lastLine(text), maxWhy) +
						fmt.Sprintf(" (exit code %d)", runResult.ExitCode))).
					Fix(setupFix)
				fault.Details = text
				// The commands and the image are the same at every attempt. Only the
				// packages that apt requests may be available later.
				if !slices.ContainsFunc(temporaryErrors, func(m string) bool { return strings.Contains(text, m) }) {
					return fault.NeedsPerson()
				}
				return fault
			}
			// Remove the files that the set-up itself needed.
			if runResult, err = h.runCommand("", link.cleanupScript(), nil); err == nil && runResult.ExitCode != 0 {
				err = fmt.Errorf("clear up after the set-up: %s", redactSecrets(strings.TrimSpace(runResult.Text()), env))
			}
			if err != nil {
				return err
			}
			_, err = h.runCommand("", "rm -rf "+setupScriptPath+" "+installToolbox+" "+buildOut+
				"; rmdir --ignore-fail-on-non-empty /opt/company", nil)
			return err
		}
		collect := func(ctx context.Context, name string) error {
			if err := b.searchContainer(ctx, name, env); err != nil {
				return err
			}
			return b.commitContainer(ctx, under, s, name)
		}
		if err := b.runInstall(
			ctx, installJob{name: s.uniqueName(), image: under.id, root: true, access: link.access, stageFiles: stage, work: do,
				collect: collect, project: req.project(), timeout: 20 * time.Minute}, work); err != nil {
			return nil, err
		}
		image, err := b.findImage(ctx, s)
		if err == nil && image == nil {
			err = errors.New("the daemon lost the image of the set-up")
		}
		return image, err
	}
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}
