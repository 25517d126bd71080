//go:build !linux

package supervise

import (
	"os"
	"syscall"

	"github.com/gorizond/koldun/internal/fault"
)

// openTerminal is supported only on Linux; elsewhere output arrives in blocks.
func openTerminal() (reader, writer *os.File, err error) {
	return nil, nil, fault.Errorf(fault.Unsupported, "cannot open a terminal on this system")
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
