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

	"company/internal/toolproto"
)

// handleRun serves run_command. Where the host looks on, lines of what the command printed
// last come before the line of the result. All that can be refused is refused before them.
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
			_ = enc.Encode(toolproto.Recent{Recent: &recent}) // a host that is gone ends the call
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

func (s *Server) run(ctx context.Context, r toolproto.RunRequest) (toolproto.RunResult, error) {
	var none toolproto.RunResult
	timeout := time.Duration(r.TimeoutS) * time.Second
	switch {
	case strings.TrimSpace(r.Command) == "":
		return none, toolproto.Refuse(toolproto.KindArgument, "command is empty")
	case strings.ContainsRune(r.Command, 0):
		return none, toolproto.Refuse(toolproto.KindArgument, "command holds a NUL byte")
	case len(r.Command) > 100<<10:
		return none, toolproto.Refuse(toolproto.KindTooLarge, "command has %d bytes; write a script with write_file and run that", len(r.Command))
	case r.TimeoutS < 0 || timeout > toolproto.MaxBuildTimeout:
		return none, toolproto.Refuse(toolproto.KindArgument, "timeout_s must be between 1 and %d; for longer use background", int(toolproto.MaxBuildTimeout.Seconds()))
	case timeout == 0:
		timeout = toolproto.CommandTimeout
	}
	verdict := classifyCommand(r.Command)
	if verdict.interactive != "" {
		return none, toolproto.Refuse(toolproto.KindInteractive, "%s", verdict.interactive)
	}
	dir, err := s.commandDir(r.Cwd)
	if err != nil {
		return none, err
	}
	at := s.placeIn(dir)
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(r.Env[k], 0) {
			return none, toolproto.Refuse(toolproto.KindArgument, "%q is not a variable's name", k)
		}
		at.env = append(at.env, k+"="+r.Env[k])
	}
	told, err := s.services.keepRunning(ctx)
	if err != nil {
		return none, err
	}
	p := &process{command: r.Command, told: told, background: r.Background || verdict.server != ""}
	script := r.Command
	if p.background && verdict.forks {
		// The shell stays, so that what it put into the background is not
		// taken for a leftover.
		script += "\nwait"
	}
	if err := s.launchProcess(p, at, script); err != nil {
		return none, err
	}
	if dir == s.dir {
		s.spare.wantAt(at)
	}
	if p.background {
		// A moment, to show the first lines or an early death.
		select {
		case <-p.done:
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
		result := p.toResult()
		if verdict.server != "" && !r.Background {
			result.Note = strings.TrimPrefix(result.Note+"; "+verdict.server+" is a server, so it runs in the background: use check_process", "; ")
		}
		return result, nil
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var look <-chan time.Time
	if r.OnOutput != nil {
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
				r.OnOutput(recent)
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

// placeIn is a folder with the environment that every command gets.
func (s *Server) placeIn(dir string) place {
	return place{dir: dir, env: append(slices.Clone(s.env), "PWD="+dir)}
}

// commandDir is the absolute folder that a command runs in.
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
