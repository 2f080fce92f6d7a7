package toolserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"company/internal/toolproto"
)

// launchProcess starts a command in a process group of its own, in the spare
// shell where that fits. Its end is seen by a goroutine that lives as long as the
// command.
func (s *Server) launchProcess(p *process, at place, script string) error {
	p.done, p.begun = make(chan struct{}), make(chan struct{})
	defer close(p.begun)
	p.started = time.Now()
	killed := s.memory.countKills()
	traced := hasPipelines(script)
	var sh *spareShell
	if !traced { // a shell that tells of pipelines has a trap at its end, which eval hides them from
		sh = s.spare.takeShell(at, script)
	}
	p.marker = randomName()
	if sh != nil {
		p.marker, p.stdout, p.stderr = sh.marker, sh.stdout, sh.stderr
	}
	s.processes.add(p)
	if sh != nil {
		if err := sh.giveCommand(script); err == nil {
			p.cmd = sh.cmd
			go s.watchProcess(p, killed, func() error { <-sh.exited; return sh.err })
			return nil
		}
		sh.endShell()
	}
	if err := s.startProcess(p, at, script, traced); err != nil {
		p.exitCode = 126
		p.log.close()
		close(p.done)
		return err
	}
	go s.watchProcess(p, killed, func() error { return s.children.wait(p.cmd) })
	return nil
}

// startProcess starts a shell of its own for a command.
func (s *Server) startProcess(p *process, at place, script string, traced bool) error {
	path, err := findProgram("bash", at.env)
	shell := []string{"bash", "--noprofile", "--norc", "-c", script}
	if err != nil {
		if path, err = findProgram("sh", at.env); err != nil {
			return fmt.Errorf("find a shell: %w", err)
		}
		shell = []string{"sh", "-c", script}
	}
	if shell[0] == "bash" && traced {
		shell[len(shell)-1] = withExitCodeTrace(script, s.codesFile(p))
	}
	p.cmd = shellCommand(path, shell, at, p.marker, p.stdout, p.stderr)
	if err := s.children.start(p.cmd); err != nil {
		return toolproto.Refuse(toolproto.KindArgument, "the command cannot be started: %v", err)
	}
	return nil
}

// shellCommand is a shell in a process group of its own, with the mark by which
// all that comes from it is found.
func shellCommand(path string, args []string, at place, marker string, stdout, stderr *capture) *exec.Cmd {
	return &exec.Cmd{
		Path: path, Args: args, Dir: at.dir, Env: append(at.env[:len(at.env):len(at.env)], mark+"="+marker),
		Stdout: stdout, Stderr: stderr, WaitDelay: pipeDelay,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
}

// watchProcess waits for a command's end and notes how it came. killed were killed for
// the container's memory before it began.
func (s *Server) watchProcess(p *process, killed int64, wait func() error) {
	defer close(p.done)
	err := wait()
	p.took = time.Since(p.started)
	p.exitCode = exitCode(p.cmd.ProcessState, err)
	p.pipes = readExitCodes(s.codesFile(p))
	if s.memory.countKills() > killed {
		p.starved = s.memory.describeKill()
	}
	// What the command left behind would run on unseen.
	p.left = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) == nil
	p.log.close()
}

// codesFile is where bash writes the exit codes along a command's pipelines.
func (s *Server) codesFile(p *process) string {
	return filepath.Join(s.processes.temp, p.id+".pipes")
}

func exitCode(state *os.ProcessState, err error) int {
	if state == nil {
		return 126
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	if code := state.ExitCode(); code >= 0 {
		return code
	}
	if err != nil {
		return 126
	}
	return 0
}
