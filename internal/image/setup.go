package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

const setupScriptPath = "/opt/company/setup"

// setupFix is what to do about a set-up command that fails.
const setupFix = "try the commands of container.setup in a container; they run as root, without a network but for apt"

// runSetup runs the president's set-up commands, one after another, as root in
// a build container. Only the daemon knows their changes, so this layer is
// committed and not written by us. They have no network; apt alone has a link,
// to the operator's own Debian archives. Variables reach them over stdin and
// are in no file and no setting of the container; what the commands leave
// behind is searched for them.
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
			r, err := h.runCommand("", "sh "+setupScriptPath, values)
			if late := (*stepTimeout)(nil); errors.As(err, &late) {
				e := company.E(company.EImage, "a set-up command of the worker image does not end").
					Because(fmt.Sprintf("it was ended after %s", late.limit)).Fix(setupFix).NeedsPerson()
				e.Details = redactSecrets(late.output, env)
				return e
			}
			if err != nil {
				return err
			}
			if r.ExitCode != 0 {
				text := redactSecrets(strings.TrimSpace(r.Text()), env)
				e := company.E(company.EImage, "a set-up command of the worker image ended with an error").
					Because(strings.TrimSpace(safetext.EscapeLine(lastLine(text), maxWhy) + fmt.Sprintf(" (exit code %d)", r.ExitCode))).
					Fix(setupFix)
				e.Details = text
				// The commands and the image are the same at every try; only what
				// apt asks for may be there later.
				if !slices.ContainsFunc(temporaryErrors, func(m string) bool { return strings.Contains(text, m) }) {
					return e.NeedsPerson()
				}
				return e
			}
			// The files that the set-up itself needed do not stay.
			if r, err = h.runCommand("", link.cleanupScript(), nil); err == nil && r.ExitCode != 0 {
				err = fmt.Errorf("clear up after the set-up: %s", redactSecrets(strings.TrimSpace(r.Text()), env))
			}
			if err != nil {
				return err
			}
			_, err = h.runCommand("", "rm -rf "+setupScriptPath+" "+installToolbox+" "+buildOut+"; rmdir --ignore-fail-on-non-empty /opt/company", nil)
			return err
		}
		collect := func(ctx context.Context, name string) error {
			if err := b.searchContainer(ctx, name, env); err != nil {
				return err
			}
			return b.commitContainer(ctx, under, s, name)
		}
		if err := b.runInstall(ctx, installJob{name: s.uniqueName(), image: under.id, root: true, access: link.access, stageFiles: stage, work: do, collect: collect, project: req.project(), timeout: 20 * time.Minute}, work); err != nil {
			return nil, err
		}
		f, err := b.findImage(ctx, s)
		if err == nil && f == nil {
			err = errors.New("the daemon lost the image of the set-up")
		}
		return f, err
	}
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}
