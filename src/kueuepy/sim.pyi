from kueuepy.fleet import (
    AllAtOnce as AllAtOnce,
    Connect as Connect,
    Disconnect as Disconnect,
    External as External,
    Incremental as Incremental,
)
from kueuepy.lab.exploration.statistics import Estimate as Estimate, PairedDifference as PairedDifference
from kueuepy.session.checks import (
    CheckAnswer as CheckAnswer,
    CheckController as CheckController,
    CheckRequest as CheckRequest,
    Provisioning as Provisioning,
)
from kueuepy.simulation.distributions import (
    Constant as Constant,
    Empirical as Empirical,
    Exponential as Exponential,
    LogNormal as LogNormal,
    ShiftedExponential as ShiftedExponential,
    Weibull as Weibull,
)
from kueuepy.simulation.figures import Kpis as Kpis
from kueuepy.simulation.load import cluster_of as cluster_of
from kueuepy.simulation.model import (
    CheckDelay as CheckDelay,
    Clock as Clock,
    Delete as Delete,
    Edit as Edit,
    Event as Event,
    Evict as Evict,
    Failures as Failures,
    Finish as Finish,
    Priority as Priority,
    Recording as Recording,
    RunModel as RunModel,
    Startup as Startup,
)
from kueuepy.simulation.recorded import PreemptionLoop as PreemptionLoop
from kueuepy.simulation.simulate import Progress as Progress
