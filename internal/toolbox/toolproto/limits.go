package toolproto

import "time"

// The limits of the tools. The toolbox enforces them. The client limits its reads by the same numbers.
const (
	MaxFile   = 10 << 20 // bytes of a file that is written, edited or read raw
	MaxHome   = 10 << 20 // bytes of the files of a home folder that are read or written at once
	ReadBytes = 50 << 10 // bytes that read_file returns at once
	ReadLines = 2000     // lines that read_file returns at once
	ReadLine  = 2000     // bytes of a line that are shown

	SearchHits    = 100    // matches of one search
	SearchCounted = 20_000 // matching lines after which a search stops
	SearchFiles   = 30     // files whose hits are listed
	SearchLine    = 500    // bytes of a matching line that are shown
	ListFiles     = 500    // paths of one list

	OutputHead = 5 << 10  // bytes kept of the start of stdout and of stderr
	OutputTail = 5 << 10  // bytes kept of the end of each
	MaxLog     = 10 << 20 // bytes of a command's whole log
	LiveBytes  = 2 << 10  // bytes of the newest output that are shown while a command runs

	CommandTimeout    = 300 * time.Second
	MaxCommandTimeout = 15 * time.Minute // of an agent's command, or of a build of usual size
	MaxBuildTimeout   = time.Hour        // of a command that makes a layer of an image
	StopGrace         = 3 * time.Second  // from SIGTERM to SIGKILL
	LiveEvery         = time.Second      // interval between updates of a running command's output
	Overrun           = time.Minute      // maximum time from a command's timeout to its result

	// HeartbeatEvery is the interval of a client's heartbeats. Without a call for DeadMan, the toolbox exits and ends its
	// container.
	HeartbeatEvery = 5 * time.Second
	DeadMan        = 30 * time.Second

	// ModuleNotThere is part of the go command's message for a module that is not in the image's cache. The command tries
	// to lock the module's download.
	ModuleNotThere = ".lock: read-only file system"

	// GatewayPort is the port of the gateway inside the container.
	GatewayPort = 8377
	// Workspace is the path of the repository in the container.
	Workspace = "/work/repo"
	// AttachedFolder is the folder with the files of the instruction in the container, beside the workspace.
	AttachedFolder = "/work/attached"
)
