package fetch_test

const victimEnv = "KOLDUN_FETCH_VICTIM"

func victim() int { return 0 }
