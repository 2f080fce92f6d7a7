package strangers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A lotCase is one repository of a draw with what is needed to judge the company on it.
type lotCase struct {
	Listed   Listed
	From     Checkout       `json:"-"` // fetched again where the case was prepared elsewhere
	Green    []theirCommand // of the maintainers, that are green outside on the base and with the good change
	NotRun   []theirCommand // of the maintainers, that are not green there; Why says it
	Good     []File
	Counts   []int // tests that each of Green printed with the good change; -1: it printed no count
	Mutation mutation
	Red      theirCommand // the command that sees the mutation
	Names    []string     // that its output has and the base's has not: tests, files, rules
	Away     string       // why its packages cannot be had here: no command is run outside then
	Prepared time.Duration
}

const (
	// mostTries bounds the mutations that are tried on a repository.
	mostTries = 12
	// mostPrepare bounds all that is done on a repository before the company sees it.
	mostPrepare = 6 * time.Minute
)

// hostAwayRE is what clients say of a host that cannot be reached.
var hostAwayRE = regexp.MustCompile(
	`[^\n]*(ENOTFOUND|EAI_AGAIN|Could not resolve host|no such host|Temporary failure in name resolution)[^\n]*`)

var (
	// errPassedOver says that a repository cannot be a case; the next candidate is tried.
	errPassedOver = errors.New("passed over")
	// errNotHad is errPassedOver for one that the archive does not give.
	errNotHad = fmt.Errorf("%w: cannot be fetched", errPassedOver)
)

func passOver(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errPassedOver, fmt.Sprintf(format, args...))
}

// prepareCase fetches a candidate and finds its commands, the good change and a change
// that breaks something those commands see.
func prepareCase(ctx context.Context, place drawnPlace, l Listed) (_ lotCase, err error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, mostPrepare)
	defer cancel()
	c := lotCase{Listed: l}
	if c.From, err = fetchListed(ctx, l); err != nil {
		return c, fmt.Errorf("%w: %s", errNotHad, tellEnd(err.Error()))
	}
	commands := findCommands(c.From)
	if len(commands) == 0 {
		return c, passOver("no command of the maintainers was found")
	}
	if c.Good, err = makeGoodChange(l, c.From); err != nil {
		return c, passOver("%v", err)
	}
	for _, f := range c.Good {
		if _, err := os.Lstat(filepath.Join(c.From.Dir, filepath.FromSlash(f.Path))); err == nil {
			return c, passOver("%s is there already", f.Path)
		}
	}
	plain, err := openPlain(ctx, l, c.From, commands)
	if err != nil && hostAwayRE.MatchString(err.Error()) {
		c.Away, c.Prepared = hostAwayRE.FindString(err.Error()), time.Since(start)
		return c, nil
	}
	if err != nil {
		return c, passOver("its packages cannot be installed outside: %s", tellEnd(err.Error()))
	}
	defer func() { err = errors.Join(err, plain.remove()) }()
	base, err := c.runBase(ctx, plain, commands)
	if err != nil {
		return c, err
	}
	if err := c.checkGood(ctx, plain); err != nil {
		return c, err
	}
	if err := c.findMutation(ctx, plain, place, base); err != nil {
		return c, err
	}
	c.Prepared = time.Since(start)
	return c, nil
}

// runBase runs the commands on the base and sorts them into Green and NotRun. It returns
// the outputs of the green ones.
func (c *lotCase) runBase(
	ctx context.Context, plain *plainPlace, commands []theirCommand,
) (outputs []string, err error) {
	for _, command := range commands {
		if command.Run == "" {
			c.NotRun = append(c.NotRun, command)
			continue
		}
		exit, output, err := plain.run(ctx, command)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, passOver("its commands take longer outside than %s", mostPrepare)
		case err != nil:
			return nil, err
		case exit == 124:
			command.Why = fmt.Sprintf("not over after %s outside", mostPlain)
		case exit != 0:
			command.Why = fmt.Sprintf("red outside, exit %d%s", exit, clipText(lastWords(exit, output), 300))
		}
		if command.Why != "" {
			c.NotRun = append(c.NotRun, command)
			continue
		}
		c.Green, outputs = append(c.Green, command), append(outputs, output)
	}
	if len(c.Green) == 0 {
		return nil, passOver("none of their commands is green outside: %s", describeNotRun(c.NotRun))
	}
	return outputs, nil
}

// describeNotRun names the first command that is not run, and why.
func describeNotRun(commands []theirCommand) string {
	if len(commands) == 0 {
		return ""
	}
	return clipText(fmt.Sprintf("`%s`: %s", commands[0].Text, commands[0].Why), 300)
}

// checkGood runs the commands with the good change: a case needs one that all of them
// take. It notes what tests they count.
func (c *lotCase) checkGood(ctx context.Context, plain *plainPlace) (err error) {
	for i, f := range c.Good {
		restore, err := plain.write(f.Path, f.Text)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, restore()) }()
		if c.Good[i].Text, err = plain.format(ctx, f); err != nil {
			return err
		}
	}
	for _, command := range c.Green {
		exit, output, err := plain.run(ctx, command)
		if err != nil {
			return passOver("its commands take longer outside than %s", mostPrepare)
		}
		if exit != 0 {
			return passOver("`%s` is red outside with the good change%s", command.Text, clipText(lastWords(exit, output), 300))
		}
		c.Counts = append(c.Counts, countPrinted(output))
	}
	return nil
}

// findMutation tries mutations until a command is red with one.
func (c *lotCase) findMutation(ctx context.Context, plain *plainPlace, place drawnPlace, base []string) error {
	mutations, err := listMutations(
		c.From.Dir, c.Listed.Stratum, newRandom(place.seed, fmt.Sprint("mutant ", place.Number, " ", c.Listed)))
	if err != nil {
		return err
	}
	for i, m := range mutations {
		if i == mostTries {
			break
		}
		red, output, err := c.tryMutation(ctx, plain, m)
		if err != nil {
			return err
		}
		if red < 0 {
			continue
		}
		c.Mutation, c.Red, c.Names = m, c.Green[red], newNames(base[red], output)
		return nil
	}
	return passOver("none of %d mutations is seen by their commands", min(len(mutations), mostTries))
}

// tryMutation returns the index of the first command that is red with a mutation, or -1.
func (c *lotCase) tryMutation(ctx context.Context, plain *plainPlace, m mutation) (red int, output string, err error) {
	text, err := os.ReadFile(filepath.Join(plain.source(), filepath.FromSlash(m.File)))
	if err != nil {
		return 0, "", err
	}
	restore, err := plain.write(m.File, strings.Replace(string(text), m.Old, m.New, 1))
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, restore()) }()
	for i, command := range c.Green {
		// Twice: a suite that depends on the moment is red of nothing.
		for again := range 2 {
			exit, output, err := plain.run(ctx, command)
			if err != nil {
				return 0, "", passOver("the search for a mutation took longer than %s", mostPrepare)
			}
			if exit == 0 || exit == 124 { // a loop without an end shows nothing by name
				break
			}
			if again == 1 {
				return i, output, nil
			}
		}
	}
	return -1, "", nil
}

// tellEnd is the end of what a program of this host said.
func tellEnd(said string) string {
	if strings.Contains(said, "404  Not Found") || strings.Contains(said, "404 Not Found") {
		return "the archive answers 404 for its file"
	}
	lines := strings.Fields(said)
	return strings.Join(lines[max(0, len(lines)-40):], " ")
}
