package toolserver

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/toolbox/toolproto"
)

// handleRun serves run_command. For a live request, lines with the newest output precede the line with the result. All
// refusals come before them.
func (s *Server) handleRun(w http.ResponseWriter, r *http.Request) {
	request, err := readRequest[toolproto.RunRequest](w, r, "run_command")
	if err != nil {
		writeAnswer(w, nil, err)
		return
	}
	begun := false
	enc, flush := json.NewEncoder(w), http.NewResponseController(w)
	if request.Live {
		request.OnOutput = func(recent string) {
			begun = true
			_ = enc.Encode(toolproto.Recent{Recent: &recent}) // if the host is gone, the call ends
			_ = flush.Flush()
		}
	}
	result, err := s.run(r.Context(), request)
	switch {
	case !begun:
		writeAnswer(w, result, err)
	case err == nil:
		_ = enc.Encode(result)
	}
}

func (s *Server) run(ctx context.Context, runRequest toolproto.RunRequest) (toolproto.RunResult, error) {
	var none toolproto.RunResult
	timeout := time.Duration(runRequest.TimeoutS) * time.Second
	switch {
	case strings.TrimSpace(runRequest.Command) == "":
		return none, toolproto.Refuse(toolproto.KindArgument, "command is empty")
	case strings.ContainsRune(runRequest.Command, 0):
		return none, toolproto.Refuse(toolproto.KindArgument, "command holds a NUL byte")
	case len(runRequest.Command) > 100<<10:
		return none, toolproto.Refuse(
			toolproto.KindTooLarge, "command has %d bytes; write a script with write_file and run that", len(runRequest.Command))
	case runRequest.TimeoutS < 0 || timeout > toolproto.MaxBuildTimeout:
		return none, toolproto.Refuse(
			toolproto.KindArgument, "timeout_s must be between 1 and %d; for longer use background",
			int(toolproto.MaxBuildTimeout.Seconds()))
	case timeout == 0:
		timeout = toolproto.CommandTimeout
	}
	verdict := classifyCommand(runRequest.Command)
	if verdict.interactive != "" {
		return none, toolproto.Refuse(toolproto.KindInteractive, "%s", verdict.interactive)
	}
	if runRequest.ByAgent && verdict.blocked.Command != "" {
		return none, refuseDestructive(verdict.blocked)
	}
	if err := refusePrograms(verdict.programs, runRequest.Programs); err != nil {
		return none, err
	}
	dir, err := s.commandDir(runRequest.Cwd)
	if err != nil {
		return none, err
	}
	if runRequest.ByAgent {
		if err := s.refuseSecretWords(ctx, dir, verdict.secrets); err != nil {
			return none, err
		}
	}
	place := s.placeIn(dir)
	for _, k := range slices.Sorted(maps.Keys(runRequest.Env)) {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(runRequest.Env[k], 0) {
			return none, toolproto.Refuse(toolproto.KindArgument, "%q is not a variable's name", k)
		}
		place.env = append(place.env, k+"="+runRequest.Env[k])
	}
	told, err := s.services.keepRunning(ctx)
	if err != nil {
		return none, err
	}
	p := &process{command: runRequest.Command, told: told, background: runRequest.Background || verdict.server != ""}
	script := runRequest.Command
	if p.background && verdict.forks {
		// Keep the shell running, so that its background commands are not treated as leftovers.
		script += "\nwait"
	}
	if err := s.launchProcess(p, place, script); err != nil {
		return none, err
	}
	if p.background {
		// Wait a moment, to include the first lines or an early exit.
		select {
		case <-p.done:
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
		result := p.toResult()
		if verdict.server != "" && !runRequest.Background {
			result.Note = strings.TrimPrefix(
				result.Note+"; "+verdict.server+" is a server, so it runs in the background: use check_process", "; ")
		}
		return result, nil
	}
	timer := s.newTimer(timeout)
	defer timer.Stop()
	var look <-chan time.Time
	if runRequest.OnOutput != nil {
		tick := time.NewTicker(toolproto.LiveEvery)
		defer tick.Stop()
		look = tick.C
	}
	for shown := int64(0); ; {
		select {
		case <-p.done:
			return p.toResult(), nil
		case <-look:
			if recent, seen := p.log.readRecent(); seen > shown {
				shown = seen
				runRequest.OnOutput(recent)
			}
		case <-timer.C:
			p.timedOut.Store(true)
			s.stop(p)
			return p.toResult(), nil
		case <-ctx.Done():
			s.stop(p)
			return none, context.Cause(ctx)
		}
	}
}

// placeIn returns a folder with the environment of commands.
func (s *Server) placeIn(dir string) place {
	return place{dir: dir, env: append(slices.Clone(s.env), "PWD="+dir)}
}

// commandDir returns the absolute folder for a command.
func (s *Server) commandDir(cwd string) (string, error) {
	if cwd == "" || cwd == "." {
		return s.dir, nil
	}
	rel, err := s.resolvePath(cwd)
	if err != nil {
		return "", err
	}
	info, err := s.root.Stat(rel)
	if err != nil {
		return "", s.refuseFS(cwd, err)
	}
	if !info.IsDir() {
		return "", toolproto.Refuse(toolproto.KindArgument, "cwd %s is not a folder", cwd)
	}
	dir := filepath.Join(s.dir, rel)
	if _, err := os.Stat(dir); err != nil {
		return "", s.refuseFS(cwd, err)
	}
	return dir, nil
}
