package supervise

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2706 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:2706 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 100 0 0 10 0
   2: 0100007F:2706 0100007F:C351 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0000000000000000 100 0 0 10 0
   3: 0100007F:C350 0100007F:2706 01 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0000000000000000 100 0 0 10 0
   4: 0100007F:2706 0100007F:C352 08 00000000:00000000 00:00000000 00000000  1000        0 4714 1 0000000000000000 100 0 0 10 0
 999: 0100007F:2706 0100007F:C353 06 00000000:00000000 03:00000176 00000000     0        0 0 3 0000000000000000
1000: 0100007F:2706
`

const table6 = `   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 0000000000000000 100 0 0 10 0
`

func TestSurvey(t *testing.T) {
	all := append(parseSockets([]byte(table)), parseSockets([]byte(table6))...)
	if len(all) != 6 || all[5] != (socket{port: 8080, state: tcpListen, inode: 99}) {
		t.Fatalf("parsed %+v", all)
	}
	for name, c := range map[string]struct {
		own  map[uint64]bool
		want view
	}{
		"Busy":    {map[uint64]bool{4711: true, 4712: true}, view{known: true, listening: true, connected: 2}},
		"Queued":  {map[uint64]bool{4711: true}, view{known: true, listening: true, connected: 1}},
		"Idle":    {map[uint64]bool{99: true}, view{known: true, listening: true}},
		"Waited":  {map[uint64]bool{4711: true, 4714: true}, view{known: true, listening: true, connected: 2}},
		"Left":    {map[uint64]bool{4714: true}, view{known: true, left: 1}},
		"Client":  {map[uint64]bool{4713: true}, view{known: true}},
		"Nothing": {nil, view{known: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, survey(all, c.own), cmp.AllowUnexported(view{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseStat(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want stat
		ok   bool
	}{
		"Plain":  {"12 (dllama) S 1 12 12 0 -1", stat{12, 1, 12, false}, true},
		"Zombie": {"13 (a) Z 1 12 12 0 -1", stat{13, 1, 12, true}, true},
		"Name":   {"14 (a) Z 9 (b) R 2 14 14", stat{14, 2, 14, false}, true},
		"Empty":  {"", stat{}, false},
		"Cut":    {"12 (dllama) S 1", stat{}, false},
		"Words":  {"x (y) S 1 2 3", stat{}, false},
		"Turned": {")12(", stat{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat(c.text)
			if got != c.want || (err == nil) != c.ok {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func FuzzSockets(f *testing.F) {
	f.Add([]byte(table), "socket:[1]")
	f.Add([]byte(table6), "socket:[]")
	f.Add([]byte("0: :FFFFF 0 0A"), "pipe:[3]")
	f.Fuzz(func(_ *testing.T, text []byte, link string) {
		own := map[uint64]bool{}
		if n, ok := parseInode(link); ok {
			own[n] = true
		}
		survey(parseSockets(text), own)
		_, _ = parseStat(string(text))
	})
}
