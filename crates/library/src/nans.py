"""To be written."""

import numpy as np
